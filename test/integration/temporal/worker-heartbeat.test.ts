import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Context } from '@temporalio/activity';
import { Client } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { afterAll, describe, expect, it } from 'vitest';
import { beatingWorkflow, type LongActivities } from '#test/integration/temporal/temporal-workflows.ts';
import { createNamespace, temporalAddress } from '#test/support/servers/temporal.ts';
import { quietRuntime } from '#test/support/work/workflows/quiet-runtime.ts';
import { heartbeat, HEARTBEAT_OPTIONS } from '#worker/workers.ts';

quietRuntime();

const native = await NativeConnection.connect({ address: temporalAddress() });
afterAll(() => native.close());
const client = new Client({ connection: native, namespace: await createNamespace() });

/** Heartbeats of the worker before the activity ends. */
const BEATS = 4;

describe('heartbeats of an activity', () => {
  it('all reach the server, so one late and one lost heartbeat cause no timeout', async () => {
    const made = { count: 0 };
    const seen = new Set<string>();
    const { promise: enough, resolve: end } = Promise.withResolvers<void>();
    const activities: LongActivities = {
      beat: () => {
        const context = Context.current();
        const original = context.heartbeat;
        Object.assign(context, {
          heartbeat: () => {
            made.count += 1;
            original.call(context);
          },
        });
        return enough;
      },
    };
    const taskQueue = randomUUID();
    const worker = await Worker.create({
      connection: native,
      namespace: client.options.namespace,
      taskQueue,
      workflowsPath: fileURLToPath(new URL('temporal-workflows.ts', import.meta.url)),
      activities,
      interceptors: { activity: [heartbeat] },
      ...HEARTBEAT_OPTIONS,
    });
    await worker.runUntil(async () => {
      const handle = await client.workflow.start(beatingWorkflow, { workflowId: randomUUID(), taskQueue });
      await expect
        .poll(async () => {
          const { raw } = await handle.describe();
          const last = raw.pendingActivities?.[0]?.lastHeartbeatTime;
          if (last?.seconds) seen.add(`${String(last.seconds)}.${String(last.nanos)}`);
          return made.count;
        })
        .toBeGreaterThanOrEqual(BEATS);
      end();
      await handle.result();
    });
    // The last one may still be on its way at the end.
    expect(seen.size).toBeGreaterThanOrEqual(BEATS - 1);
  });
});
