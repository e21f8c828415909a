import { fileURLToPath } from 'node:url';
import { decodeArrayFromPayloads } from '@temporalio/common/lib/internal-non-workflow/index.js';
import { Worker } from '@temporalio/worker';
import { describe, expect, it } from 'vitest';
import { KeyRing } from '#crypto/key-ring.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import type { ServiceObservation } from '#domain/relay/observation.ts';
import { createDataConverter } from '#temporal/codec/payload-codec.ts';
import { isUnanswered } from '#temporal/connection.ts';
import { signalReport, startWork, wakeWork, type WorkStart } from '#temporal/start-work.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { openNamespace } from '#test/support/servers/temporal.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { quietRuntime } from '#test/support/work/workflows/quiet-runtime.ts';
import { memoryQuery, TASK_QUEUE } from '#workflows/messages.ts';
import { SEARCH_ATTRIBUTES } from '#workflows/search-attributes.ts';

quietRuntime();

const keyRing = new KeyRing([{ id: 'k1', key: Buffer.alloc(32, 1) }]);
const { native, client, namespace } = disposedAtEnd(await openNamespace(keyRing));

const start = (id: string): WorkStart => ({
  kind: 'order',
  id,
  policy: DEFAULT_POLICY.purchase,
  packageId: 17,
  externalReference: 'shop `order` 1',
  environment: 'sandbox',
});

const observation: ServiceObservation = {
  inboxId: '1',
  source: 'webhook',
  attemptNumber: 1,
  outcome: 'completed',
  decision: 'advance',
};

/** The rows of these tests have ended when their workflows have. */
const isEnded = async () => true;

/** With a worker whose order workflow ends at the first report of the service. */
async function withWorker<Result>(work: () => Promise<Result>): Promise<Result> {
  const worker = await Worker.create({
    connection: native,
    namespace,
    taskQueue: TASK_QUEUE,
    workflowsPath: fileURLToPath(new URL('temporal-workflows.ts', import.meta.url)),
    dataConverter: createDataConverter(keyRing),
  });
  return worker.runUntil(work);
}

/** The input of the newest run. */
async function inputOf(id: string): Promise<unknown> {
  const { events } = await client.workflow.getHandle(`order/${id}`).fetchHistory();
  const payloads = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
  const [input] = await decodeArrayFromPayloads(client.options.loadedDataConverter, payloads);
  return input;
}

describe('starting the workflow of an order', () => {
  it('starts it once, also for concurrent and repeated calls', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, () => startWork(client, start('ord_once'), { isEnded })),
    );
    expect(outcomes.toSorted()).toEqual([...Array.from({ length: 9 }, () => 'running'), 'started']);
  });

  it('shows package, reference and environment as search attributes and summary, before any worker runs', async () => {
    await startWork(client, start('ord_shown'), { isEnded });
    const description = await client.workflow.getHandle('order/ord_shown').describe();
    const shown = description.typedSearchAttributes;
    expect(shown.get(SEARCH_ATTRIBUTES.product)).toBe('esim-order');
    expect(shown.get(SEARCH_ATTRIBUTES.stage)).toBe('submitting');
    expect(shown.get(SEARCH_ATTRIBUTES.needsAttention)).toBe(false);
    expect(shown.get(SEARCH_ATTRIBUTES.packageId)).toBe(17);
    expect(shown.get(SEARCH_ATTRIBUTES.externalReference)).toBe('shop `order` 1');
    expect(shown.get(SEARCH_ATTRIBUTES.environment)).toBe('sandbox');
    expect(await description.staticSummary()).toBe("Package 17 for `shop 'order' 1` (sandbox)");
    expect(await description.staticDetails()).toContain('`GET /v1/orders/ord_shown`');
  });

  it('starts it again after Terminate, and returns finished after it has completed', async () => {
    expect(await startWork(client, start('ord_again'), { isEnded })).toBe('started');
    const handle = client.workflow.getHandle('order/ord_again');
    await handle.terminate('an operator');
    expect(await startWork(client, start('ord_again'), { isEnded })).toBe('started');
    await withWorker(async () => {
      expect(await signalReport(client, start('ord_again'), observation, { isEnded })).toBe('notified');
      expect(await handle.result()).toEqual({ status: 'completed', esimId: 'esim-of-ord_again' });
    });
    expect(await startWork(client, start('ord_again'), { isEnded })).toBe('finished');
  });

  it('passes the knowledge of a terminated run to the next one', async () => {
    await withWorker(async () => {
      await startWork(client, start('ord_terminated'), { isEnded });
      const handle = client.workflow.getHandle('order/ord_terminated');
      // Its first task is complete.
      await handle.query(memoryQuery);
      await handle.terminate('an operator');
      expect(await startWork(client, start('ord_terminated'), { isEnded })).toBe('started');
    });
    expect(await inputOf('ord_terminated')).toMatchObject({
      carried: { witness: { number: 1, state: 'unknown', sends: 2 } },
    });
  });

  it('does not start a second run without that knowledge when no worker can tell it', async () => {
    const handle = client.workflow.getHandle('order/ord_untold');
    await withWorker(async () => {
      await startWork(client, start('ord_untold'), { isEnded });
      await handle.query(memoryQuery);
      await handle.terminate('an operator');
    });
    // The server remembers a worker for 20 seconds, and lets a query wait meanwhile. Then it refuses queries at once.
    await waitFor('the server knows that there is no worker', async () =>
      handle.query(memoryQuery).then(
        () => false,
        (error: unknown) => isUnanswered(error),
      ),
    );
    await expect(startWork(client, start('ord_untold'), { isEnded })).rejects.toThrow('query');
    expect((await handle.describe()).status.name).toBe('TERMINATED');
    await withWorker(async () => expect(await startWork(client, start('ord_untold'), { isEnded })).toBe('started'));
    expect(await inputOf('ord_untold')).toMatchObject({ carried: { witness: { number: 1, sends: 2 } } });
  });

  it('can be eager: the worker of the same process takes the first task', async () => {
    await withWorker(async () => {
      expect(await startWork(client, start('ord_eager'), { eager: true, isEnded })).toBe('started');
      expect(await startWork(client, start('ord_eager'), { eager: true, isEnded })).toBe('running');
      await signalReport(client, start('ord_eager'), observation, { isEnded });
      expect(await client.workflow.getHandle('order/ord_eager').result()).toMatchObject({ status: 'completed' });
    });
  });
});

describe('signalling a report to an order', () => {
  it('starts the workflow if none is running, also after Terminate, with the same attributes', async () => {
    await startWork(client, start('ord_told'), { isEnded });
    await client.workflow.getHandle('order/ord_told').terminate();
    expect(await signalReport(client, start('ord_told'), observation, { isEnded })).toBe('notified');
    const { typedSearchAttributes, status } = await client.workflow.getHandle('order/ord_told').describe();
    expect(status.name).toBe('RUNNING');
    expect(typedSearchAttributes.get(SEARCH_ATTRIBUTES.packageId)).toBe(17);
  });

  it('returns finished when the workflow has completed, and starts no second one', async () => {
    await withWorker(async () => {
      await signalReport(client, start('ord_done'), observation, { isEnded });
      await client.workflow.getHandle('order/ord_done').result();
    });
    expect(await signalReport(client, start('ord_done'), observation, { isEnded })).toBe('finished');
    expect((await client.workflow.getHandle('order/ord_done').describe()).status.name).toBe('COMPLETED');
  });
});

describe('finished work with a lost final row', () => {
  const isUnfinished = async () => false;
  const latestOf = async (id: string) => client.workflow.getHandle(`order/${id}`).describe();

  async function completed(id: string): Promise<string> {
    await withWorker(async () => {
      await signalReport(client, start(id), observation, { isEnded });
      await client.workflow.getHandle(`order/${id}`).result();
    });
    return (await latestOf(id)).runId;
  }

  it('gets one new run by a start, with the knowledge of the completed run', async () => {
    const before = await completed('ord_lost');
    const outcomes = await Promise.all(
      Array.from({ length: 4 }, () => startWork(client, start('ord_lost'), { isEnded: isUnfinished })),
    );
    expect(outcomes.toSorted()).toEqual(['running', 'running', 'running', 'started']);
    const after = await latestOf('ord_lost');
    expect([after.status.name, after.runId === before]).toEqual(['RUNNING', false]);
    expect(await inputOf('ord_lost')).toMatchObject({
      carried: { witness: { ended: 'completed', state: 'completed', sends: 1 } },
    });
  });

  it('gets a new run by a report of the service and by an operator action', async () => {
    await completed('ord_lost_told');
    expect(await signalReport(client, start('ord_lost_told'), observation, { isEnded: isUnfinished })).toBe('notified');
    expect((await latestOf('ord_lost_told')).status.name).toBe('RUNNING');
    await completed('ord_lost_woken');
    expect(await wakeWork(client, start('ord_lost_woken'), { isEnded: isUnfinished })).toBe('notified');
    expect((await latestOf('ord_lost_woken')).status.name).toBe('RUNNING');
  });
});
