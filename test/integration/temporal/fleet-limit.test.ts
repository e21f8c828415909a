import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { tsToMs } from '@temporalio/common/lib/time.js';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { describe, expect, it } from 'vitest';
import { KeyRing } from '#crypto/key-ring.ts';
import { createWorkerDataConverter } from '#temporal/codec/payload-codec.ts';
import { connectNative, createClient } from '#temporal/connection.ts';
import { readingWorkflow } from '#test/integration/temporal/temporal-workflows.ts';
import { createNamespace, temporalConfig } from '#test/support/servers/temporal.ts';
import { quietRuntime } from '#test/support/work/workflows/quiet-runtime.ts';
import { createWorkers } from '#worker/workers.ts';
import { TASK_QUEUE } from '#workflows/messages.ts';

quietRuntime();

const ACTIVITIES = 20;
const PER_SECOND = 4;

const keyRing = new KeyRing([{ id: 'k1', key: Buffer.alloc(32, 1) }]);
const workflowsPath = fileURLToPath(new URL('temporal-workflows.ts', import.meta.url));
const { code } = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('WARN') });

/** Two processes with all their workers. @returns when each of the activities began, in order, in seconds. */
async function startsOfTwo(): Promise<number[]> {
  const temporal = temporalConfig(await createNamespace());
  // A process has one connection, and Temporal counts its workers by it.
  const connections = await Promise.all([connectNative(temporal), connectNative(temporal)]);
  const activities = { beat: async () => undefined };
  const common = { workflowBundle: { code }, activities, webhookActivities: activities };
  const config = {
    temporal,
    shutdownGraceMs: 1_000,
    purchasesPerSecond: undefined,
    readsPerSecond: PER_SECOND,
    deployment: undefined,
    tracing: undefined,
  };
  const dataConverter = createWorkerDataConverter(keyRing);
  const fleet = await Promise.all(
    connections.map((connection) => createWorkers({ ...common, connection, config, dataConverter })),
  );
  const running = fleet.flat().map((worker) => ({ worker, end: worker.run() }));
  try {
    const { workflow } = createClient(connections[0], temporal, keyRing);
    const options = { workflowId: randomUUID(), taskQueue: TASK_QUEUE, args: [ACTIVITIES] as [number] };
    const handle = await workflow.start(readingWorkflow, options);
    await handle.result();
    const { events } = await handle.fetchHistory();
    return (events ?? [])
      .filter((event) => event.activityTaskStartedEventAttributes != null)
      .map(({ eventTime }) => tsToMs(eventTime) / 1_000)
      .toSorted((a, b) => a - b);
  } finally {
    for (const { worker } of running) worker.shutdown();
    await Promise.all(running.map(({ end }) => end));
    await Promise.all(connections.map((connection) => connection.close()));
  }
}

describe('the limit of reads', () => {
  it('holds for the workers of two processes together', async () => {
    const starts = await startsOfTwo();
    expect(starts).toHaveLength(ACTIVITIES);
    // The server lets as many as a second allows begin at once. A slow machine only takes longer.
    const shortest = (ACTIVITIES - 2 * PER_SECOND) / PER_SECOND;
    expect((starts.at(-1) ?? 0) - (starts[0] ?? 0)).toBeGreaterThanOrEqual(shortest);
  });
});
