/** Two versions of the workers at once, the second with an order workflow that cannot replay the first one's runs. */
import { Worker } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { describe, expect, inject, it } from 'vitest';
import { freePort } from '#cli/embedded/ports.ts';
import { createWorkerDataConverter } from '#temporal/codec/payload-codec.ts';
import { endpointCalls } from '#test/support/api/webhook-endpoint-calls.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startOwnCluster } from '#test/support/servers/own-cluster.ts';
import { keyRingOf, TemporalOperator } from '#test/support/servers/stack-temporal.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { OrderDesk, PACKAGE } from '#test/support/work/order-desk.ts';
import { quietRuntime } from '#test/support/work/workflows/quiet-runtime.ts';
import { bundleReorderedOrder } from '#test/support/work/workflows/reordered-bundle.ts';
import { WorkerFleet } from '#test/support/work/workflows/worker-fleet.ts';
import { forVersionedWorkers, workflowBundle } from '#worker/bundle.ts';

quietRuntime();

const ACTIVE_AT_ONCE = 301;
/** Orders that each round leaves open, and those that end at once. */
const OPEN = 3;
const QUICK = 6;

const reordered = await bundleReorderedOrder();
const cluster = disposedAtEnd(await startOwnCluster());
const stack = disposedAtEnd(
  await startStack({
    temporal: cluster,
    start: ['simulator', 'api'],
    environment: { WEBHOOK_ALLOWED_ADDRESSES: '127.0.0.1' },
  }),
);
const desk = new OrderDesk(stack);
const operator = disposedAtEnd(await TemporalOperator.connect(stack));
const fleet = disposedAtEnd(new WorkerFleet(stack, operator));

/** Places orders of which some stay open at the service. */
async function placeRound(): Promise<{ open: string[]; quick: string[] }> {
  const open: string[] = [];
  const quick: string[] = [];
  for (let n = 0; n < OPEN; n += 1) open.push(await desk.place(PACKAGE.staysProcessing));
  for (let n = 0; n < QUICK; n += 1)
    quick.push(await desk.place(n % 2 === 0 ? PACKAGE.completedAtOnce : PACKAGE.processingThenCompleted));
  for (const id of quick) await desk.reaches(id, 'completed');
  for (const id of open) await desk.reaches(id, 'processing');
  return { open, quick };
}

/** The service completes orders that it had left open. */
async function complete(ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    await desk.simulator.completeOrder((await desk.soldFor(id)).id);
    await desk.reaches(id, 'completed');
  }
}

async function buildsOf(ids: readonly string[]): Promise<Set<string>> {
  return new Set(await Promise.all(ids.map((id) => fleet.buildOf(id))));
}

/** Replays the history of an order with the workflows of a file. */
async function replay(orderId: string, file: string): Promise<void> {
  const history = await operator.order(orderId).fetchHistory();
  await Worker.runReplayHistory(
    {
      workflowBundle: forVersionedWorkers(await workflowBundle(file)),
      dataConverter: createWorkerDataConverter(keyRingOf(stack)),
    },
    history,
    `order/${orderId}`,
  );
}

describe('worker versions on a Temporal cluster', () => {
  it('keeps each order on its version, moves subscriptions, and loses and buys nothing twice', async () => {
    const a = await fleet.start('a');
    // Nothing is current yet: an accepted order waits, and the worker reports why.
    const first = await desk.place(PACKAGE.completedAtOnce);
    await waitFor('the worker reports that it gets no work', async () =>
      a.output().includes('no version of shop is current'),
    );
    await fleet.setCurrent('a');
    await desk.reaches(first, 'completed');

    const ofA = await placeRound();
    // Nothing listens there, so its workflow runs for as long as the test.
    const { created } = endpointCalls(() => stack.api);
    const endpoint = await created({ url: `http://127.0.0.1:${await freePort()}/events` });
    const subscription = await desk.subscribe(ACTIVE_AT_ONCE);
    await desk.subscriptionReaches(subscription, 'active');
    expect(await buildsOf([first, ...ofA.open, ...ofA.quick, subscription])).toEqual(new Set(['a']));

    // The change is incompatible: what A has begun can be replayed with A only.
    await replay(ofA.open[0]!, inject('servers').workflowBundle);
    await expect(replay(ofA.open[0]!, reordered)).rejects.toThrow(DeterminismViolationError);

    // Ramping: both versions begin orders, whichever worker's relay starts them.
    await fleet.start('b', reordered);
    await fleet.setRamping('b', 50);
    const ramped: string[] = [];
    await waitFor('both versions have begun orders', async () => {
      const id = await desk.place(PACKAGE.completedAtOnce);
      await desk.reaches(id, 'completed');
      ramped.push(id);
      return (await buildsOf(ramped)).size === 2;
    });

    // Current: every new order begins on B, and those of A end on A.
    await fleet.setCurrent('b');
    const ofB = await placeRound();
    expect(await buildsOf([...ofB.open, ...ofB.quick])).toEqual(new Set(['b']));
    await complete(ofA.open.slice(1));
    expect(await buildsOf(ofA.open)).toEqual(new Set(['a']));
    await fleet.setRamping('b', 0);

    // The endpoint's workflow moves, and a schedule starts its workflow on the current version.
    await waitFor('the endpoint is tried by b', async () => (await fleet.buildOf(endpoint)) === 'b');
    await waitFor('the sweeper runs on b', async () => (await fleet.countOf('sweepWorkflow', 'b')) > 0);

    // Roll back: every new order begins on A, and those of B end on B.
    await fleet.setCurrent('a');
    const afterRollback = await placeRound();
    expect(await buildsOf([...afterRollback.open, ...afterRollback.quick])).toEqual(new Set(['a']));
    await complete(ofB.open);
    expect(await buildsOf(ofB.open)).toEqual(new Set(['b']));

    // And forward again: the subscription that A has begun ends on B.
    await fleet.setCurrent('b');
    const cancel = await stack.api.post(`/v1/vpn/subscriptions/${subscription}/cancel`, {});
    expect(cancel.status).toBeLessThan(300);
    await desk.subscriptionReaches(subscription, 'cancelled');
    expect(await fleet.buildOf(subscription)).toBe('b');

    // What is still pinned to A can be moved: terminated, it is started again on the current version.
    const moved = ofA.open[0]!;
    await operator.order(moved).terminate('moved to the current version');
    await waitFor('it runs on b', async () => (await fleet.buildOf(moved)) === 'b');
    await complete([moved, ...afterRollback.open]);

    const ran = await fleet.ran();
    expect(ran.filter(({ failedTasks }) => failedTasks.length > 0)).toEqual([]);
    const mixed = ran.filter(({ builds }) => new Set(builds).size > 1);
    expect(new Set(mixed.map(({ workflowType }) => workflowType))).toEqual(
      new Set(['vpnSubscriptionWorkflow', 'webhookEndpointWorkflow']),
    );
    await desk.checkBooks();
  });
});
