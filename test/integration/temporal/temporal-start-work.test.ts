import { fileURLToPath } from 'node:url';
import { decodeArrayFromPayloads } from '@temporalio/common/lib/internal-non-workflow/index.js';
import { Worker } from '@temporalio/worker';
import { afterAll, describe, expect, it } from 'vitest';
import { KeyRing } from '#crypto/key-ring.ts';
import { newId } from '#db/connection/ids.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import type { ServiceObservation } from '#domain/relay/observation.ts';
import type { WorkStart } from '#domain/work/kinds.ts';
import { createDataConverter } from '#temporal/codec/payload-codec.ts';
import { connectNative, createClient, isUnanswered } from '#temporal/connection.ts';
import { setUpNamespace } from '#temporal/set-up.ts';
import { findRunning, signalReport, type Starter, startWork, wakeWork } from '#temporal/start-work.ts';
import { createNamespace, temporalConfig } from '#test/support/servers/temporal.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { quietRuntime } from '#test/support/work/workflows/quiet-runtime.ts';
import { memoryQuery, TASK_QUEUE } from '#workflows/messages.ts';
import { SEARCH_ATTRIBUTES } from '#workflows/search-attributes.ts';

quietRuntime();

const keyRing = new KeyRing([{ id: 'k1', key: Buffer.alloc(32, 1) }]);
const namespace = await createNamespace();
const config = temporalConfig(namespace);
await setUpNamespace(config);
const native = await connectNative(config);
afterAll(() => native.close());
const client = createClient(native, config, keyRing);

const start = (id: string): WorkStart => ({ kind: 'order', id, packageId: 17, externalReference: 'shop `order` 1' });

const observation: ServiceObservation = {
  inboxId: '1',
  source: 'webhook',
  attemptNumber: 1,
  outcome: 'completed',
  decision: 'advance',
};

/** By default the row has ended when its workflow has. */
const starter = (options: Partial<Starter> = {}): Starter => ({
  client,
  policy: DEFAULT_POLICY.purchase,
  environment: 'sandbox',
  mayBeEager: () => false,
  isEnded: async () => true,
  ...options,
});

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

/** The newest run. */
const runOf = (id: string) => client.workflow.getHandle(`order/${id}`);
const statusOf = async (id: string) => (await runOf(id).describe()).status.name;

/** Runs the workflow of an order to its end. @returns the id of the run. */
async function completed(id: string): Promise<string> {
  await withWorker(async () => {
    await signalReport(starter(), start(id), observation);
    await runOf(id).result();
  });
  return (await runOf(id).describe()).runId;
}

/** The input of the newest run. */
async function inputOf(id: string): Promise<unknown> {
  const { events } = await runOf(id).fetchHistory();
  const payloads = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
  const [input] = await decodeArrayFromPayloads(client.options.loadedDataConverter, payloads);
  return input;
}

describe('starting the workflow of an order', () => {
  it('starts it once, also for concurrent and repeated calls', async () => {
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => startWork(starter(), start('ord_once'))));
    expect(outcomes.toSorted()).toEqual([...Array.from({ length: 9 }, () => 'running'), 'started']);
  });

  it('shows package, reference and environment as search attributes and summary, before any worker runs', async () => {
    await startWork(starter(), start('ord_shown'));
    const description = await runOf('ord_shown').describe();
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
    expect(await startWork(starter(), start('ord_again'))).toBe('started');
    const handle = runOf('ord_again');
    await handle.terminate('an operator');
    expect(await startWork(starter(), start('ord_again'))).toBe('started');
    await withWorker(async () => {
      expect(await signalReport(starter(), start('ord_again'), observation)).toBe('notified');
      expect(await handle.result()).toEqual({ status: 'completed', esimId: 'esim-of-ord_again' });
    });
    expect(await startWork(starter(), start('ord_again'))).toBe('finished');
  });

  it('passes the knowledge of a terminated run to the next one', async () => {
    await withWorker(async () => {
      await startWork(starter(), start('ord_terminated'));
      const handle = runOf('ord_terminated');
      // Its first task is complete.
      await handle.query(memoryQuery);
      await handle.terminate('an operator');
      expect(await startWork(starter(), start('ord_terminated'))).toBe('started');
    });
    expect(await inputOf('ord_terminated')).toMatchObject({
      carried: { witness: { number: 1, state: 'unknown', sends: 2 } },
    });
  });

  it('passes the epoch of the start to the next run when the first task has not ended: it may have sent', async () => {
    const first = { ...start('ord_sending'), unreadIn: '00000001/17' };
    await startWork(starter(), first);
    expect(await inputOf('ord_sending')).toMatchObject({ firstSendIn: '00000001/17' });
    await runOf('ord_sending').terminate('an operator');
    expect(await startWork(starter(), { ...first, unreadIn: '00000002/18' })).toBe('started');
    const next = await inputOf('ord_sending');
    expect(next).toMatchObject({ carried: { pendingSend: { epoch: '00000001/17', number: 1, sends: 0 } } });
    expect(next).not.toHaveProperty('firstSendIn');
  });

  it('does not start a second run without that knowledge when no worker can tell it', async () => {
    const handle = runOf('ord_untold');
    await withWorker(async () => {
      await startWork(starter(), start('ord_untold'));
      await handle.query(memoryQuery);
      await handle.terminate('an operator');
    });
    // The server remembers a worker for 20 seconds, and lets a query wait meanwhile. Then it refuses queries at once.
    await waitFor('the server knows that there is no worker', () =>
      handle.query(memoryQuery).then(() => false, isUnanswered),
    );
    await expect(startWork(starter(), start('ord_untold'))).rejects.toThrow('query');
    expect(await statusOf('ord_untold')).toBe('TERMINATED');
    await withWorker(async () => expect(await startWork(starter(), start('ord_untold'))).toBe('started'));
    expect(await inputOf('ord_untold')).toMatchObject({ carried: { witness: { number: 1, sends: 2 } } });
  });

  it('can be eager: the worker of the same process takes the first task', async () => {
    const eager = starter({ mayBeEager: () => true });
    await withWorker(async () => {
      expect(await startWork(eager, start('ord_eager'))).toBe('started');
      expect(await startWork(eager, start('ord_eager'))).toBe('running');
      await signalReport(starter(), start('ord_eager'), observation);
      expect(await runOf('ord_eager').result()).toMatchObject({ status: 'completed' });
    });
  });
});

describe('signalling a report to an order', () => {
  it('starts the workflow if none is running, also after Terminate, with the same attributes', async () => {
    await startWork(starter(), start('ord_told'));
    await runOf('ord_told').terminate();
    expect(await signalReport(starter(), start('ord_told'), observation)).toBe('notified');
    const { typedSearchAttributes, status } = await runOf('ord_told').describe();
    expect(status.name).toBe('RUNNING');
    expect(typedSearchAttributes.get(SEARCH_ATTRIBUTES.packageId)).toBe(17);
  });

  it('returns finished when the workflow has completed, and starts no second one', async () => {
    await completed('ord_done');
    expect(await signalReport(starter(), start('ord_done'), observation)).toBe('finished');
    expect(await statusOf('ord_done')).toBe('COMPLETED');
  });
});

describe('finished work with a lost final row', () => {
  const unfinished = () => starter({ isEnded: async () => false });
  it('gets one new run by a start, with the knowledge of the completed run', async () => {
    const before = await completed('ord_lost');
    const outcomes = await Promise.all(Array.from({ length: 4 }, () => startWork(unfinished(), start('ord_lost'))));
    expect(outcomes.toSorted()).toEqual(['running', 'running', 'running', 'started']);
    const after = await runOf('ord_lost').describe();
    expect([after.status.name, after.runId === before]).toEqual(['RUNNING', false]);
    expect(await inputOf('ord_lost')).toMatchObject({
      carried: { witness: { ended: 'completed', state: 'completed', sends: 1 } },
    });
  });

  it('gets a new run by a report of the service and by an operator action', async () => {
    await completed('ord_lost_told');
    expect(await signalReport(unfinished(), start('ord_lost_told'), observation)).toBe('notified');
    expect(await statusOf('ord_lost_told')).toBe('RUNNING');
    await completed('ord_lost_woken');
    expect(await wakeWork(unfinished(), start('ord_lost_woken'))).toBe('notified');
    expect(await statusOf('ord_lost_woken')).toBe('RUNNING');
  });
});

describe('the query for running workflows', () => {
  it('accepts as many ids in one call as the sweeper sends, and returns exactly the running ones', async () => {
    const ids = Array.from({ length: DEFAULT_POLICY.sweep.listIds }, () => newId('order'));
    const [running, terminated] = ids;
    for (const id of [running!, terminated!]) await startWork(starter(), start(id));
    await runOf(terminated!).terminate('gone');
    const work = ids.map((id) => ({ kind: 'order', id }) as const);
    // Visibility is eventually consistent.
    const found = await waitFor('visibility shows one', async () => {
      const some = await findRunning(client, work);
      return some.size === 1 && some;
    });
    expect([...found]).toEqual([running]);
  });
});
