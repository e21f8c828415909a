import { fileURLToPath } from 'node:url';
import { ApplicationFailure } from '@temporalio/activity';
import { Client, WorkflowFailedError } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import { Worker } from '@temporalio/worker';
import { afterAll, describe, expect, it } from 'vitest';
import { KeyRing } from '#crypto/key-ring.ts';
import { createDataConverter } from '#temporal/codec/payload-codec.ts';
import { connectNative, createClient } from '#temporal/connection.ts';
import { canaryWorkflow, noteSignal, type TestActivities } from '#test/integration/temporal/temporal-workflows.ts';
import { createNamespace, temporalConfig } from '#test/support/servers/temporal.ts';
import { quietRuntime } from '#test/support/work/workflows/quiet-runtime.ts';

quietRuntime();

const keyRing = new KeyRing([
  { id: 'k2', key: Buffer.alloc(32, 2) },
  { id: 'k1', key: Buffer.alloc(32, 1) },
]);
const activities: TestActivities = {
  echo: async (text) => text,
  fail: async (text) => {
    throw ApplicationFailure.create({ message: `canary-activity-failure ${text}`, details: ['canary-detail'] });
  },
};

const namespace = await createNamespace();
const config = temporalConfig(namespace);
const native = await connectNative(config);
afterAll(() => native.close());

/** Runs one canary workflow to its end, under a worker with this data converter. */
async function runCanary(workflowId: string, note: string, client: Client, dataConverter: DataConverter | undefined) {
  const worker = await Worker.create({
    connection: native,
    namespace,
    taskQueue: workflowId,
    workflowsPath: fileURLToPath(new URL('temporal-workflows.ts', import.meta.url)),
    activities,
    ...(dataConverter === undefined ? {} : { dataConverter }),
  });
  return worker.runUntil(async () => {
    const handle = await client.workflow.start(canaryWorkflow, {
      workflowId,
      taskQueue: workflowId,
      args: ['canary-argument'],
      memo: { note: 'canary-memo' },
      staticSummary: 'canary-static-summary',
      staticDetails: 'canary-static-details',
    });
    await handle.signal(noteSignal, note);
    return handle.result().then(
      (result) => ({ result, failure: undefined }),
      (failure: unknown) => ({ result: undefined, failure }),
    );
  });
}

/** The history as the server stores it: bytes of every event, nothing decoded. */
async function rawHistory(client: Client, workflowId: string) {
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace,
    execution: { workflowId },
  });
  const events = history?.events ?? [];
  const bytes = Buffer.from(temporal.api.history.v1.History.encode({ events }).finish());
  return { events, text: bytes.toString('latin1') };
}

describe('encryption of the data in Temporal', () => {
  it('hides the canaries, which a history without encryption contains', async () => {
    const client = new Client({ connection: native, namespace });
    await runCanary('plain', 'canary-signal, end badly', client, undefined);
    const { text } = await rawHistory(client, 'plain');
    for (const canary of [
      'canary-argument',
      'canary-signal',
      'canary-memo',
      'canary-static-summary',
      'canary-static-details',
      'canary-summary',
      'canary-detail',
      'canary-activity-failure',
      'canary-workflow-failure',
    ])
      expect(text).toContain(canary);
  });

  it('covers arguments, results, signals, memos and summaries, and returns the result decrypted', async () => {
    const client = createClient(native, config, keyRing);
    const { result } = await runCanary('encrypted', 'canary-signal', client, createDataConverter(keyRing));
    expect(result).toBe('canary-result canary-signal');
    const { text, events } = await rawHistory(client, 'encrypted');
    expect(events.length).toBeGreaterThan(10);
    expect(text).toContain('binary/encrypted');
    expect(text).not.toContain('canary-');
    expect(text).not.toContain('json/plain');
  });

  it('covers messages, stack traces and details of failures, and returns them decrypted', async () => {
    const client = createClient(native, config, keyRing);
    const { failure } = await runCanary('failing', 'canary-signal, end badly', client, createDataConverter(keyRing));
    expect(failure).toBeInstanceOf(WorkflowFailedError);
    const activity = { message: 'canary-activity-failure canary-argument' };
    const cause = { message: 'canary-workflow-failure', details: ['canary-detail'], cause: { cause: activity } };
    expect(failure).toMatchObject({ cause });
    const { text } = await rawHistory(client, 'failing');
    expect(text).not.toContain('canary-');
    expect(text).not.toContain('temporal-workflows.ts');
  });
});
