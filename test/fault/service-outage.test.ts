import { and, inArray, isNull } from 'drizzle-orm';
import { expect, it } from 'vitest';
import { attempts, cases } from '#db/schema.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { isSettled, readWork } from '#test/support/work/books/both-sides.ts';
import { OrderDesk, PACKAGE } from '#test/support/work/order-desk.ts';

const PIECES = 40;
const SHARE = 3;

/**
 * Every window ends while the test waits for all work to be held or to need attention. The deadline of a hold is
 * longer. No circuit opens, so every purchase is sent and as many as possible are unknown.
 */
const SCALED = {
  'purchase.resend_window': '2s',
  'purchase.delivery_deadline': '8s',
  'purchase.silent_deadline': '8s',
  'purchase.look_up_again': '500ms',
  'purchase.look_up_again_max': '1s',
  'vpn_subscription.cancel_check': '500ms',
  'retry.hold_deadline': '1h',
  'gate.circuit_failures': 1000,
} as const;

/** All calls that report the result of a purchase. */
const READS = [
  'getOrder',
  'listOrders',
  'getEsim',
  'getEsimUsage',
  'listWalletTransactions',
  'getTopup',
  'listTopups',
  'getRefund',
  'listRefunds',
  'getVpnSubscription',
  'listVpnSubscriptions',
] as const;

const SEND_FAULTS = [
  { kind: 'server_error', after_work: true },
  { kind: 'accepted_but_answer_lost' },
  { kind: 'connection_reset' },
  { kind: 'hang', after_work: true },
] as const;

const stack = disposedAtEnd(await startStack({ environment: SCALED, simulator: { SIMULATOR_PROCESSING_DELAY: '3s' } }));
const desk = new OrderDesk(stack);

/** Work that is neither final nor an active subscription. */
async function openWork() {
  const rows = await stack.database.run(readWork);
  return rows.filter(({ status }) => !isSettled(status));
}

/** Waits until no open work is in another state. @returns the open work. */
async function openWorkIs(what: string, isSo: (work: Awaited<ReturnType<typeof openWork>>[number]) => boolean) {
  return waitFor(
    what,
    async () => {
      const open = await openWork();
      const others = open.filter((work) => !isSo(work));
      if (others.length === 0) return open;
      throw new Error(
        others.map(({ id, status, attentionReason }) => `${id} is ${status} (${attentionReason ?? '-'})`).join(', '),
      );
    },
    { timeoutMs: 360_000, everyMs: 200, context: () => stack.tails() },
  );
}

/** Creates work in each state, mostly orders, and starts the outage. */
async function beginOutage(): Promise<void> {
  const { simulator } = desk;
  const places = (count: number, packageId: number) =>
    Promise.all(Array.from({ length: count }, () => desk.place(packageId)));
  const esims = await Promise.all(Array.from({ length: 6 }, () => desk.newEsim()));
  const active = await desk.subscribe(301);
  await desk.subscriptionReaches(active, 'active');
  await simulator.onWebhook(undefined, { kind: 'lost' }, { count: null });
  // The reads fail first, so that none of the work below completes before the outage.
  for (const read of READS) await simulator.onRequest(read, { kind: 'server_error' }, { count: null });

  // Orders that failed at the service, whose wallet movements cannot be read.
  await simulator.nextPurchases({ outcome: 'failed_at_once', count: SHARE });
  for (const id of await places(SHARE, 1002)) {
    await waitFor(`${id} failed at the service`, async () =>
      (await desk.attempts(id)).some(({ state }) => state === 'failed'),
    );
  }
  // Orders that were bought, whose eSIM cannot be read.
  for (const id of await places(SHARE, PACKAGE.completedAtOnce))
    await desk.reaches(id, 'processing', 'needs_attention');
  for (const id of await places(SHARE, PACKAGE.processingThenCompleted)) await desk.reaches(id, 'processing');
  await failSends(esims);
  await simulator.onRequest(undefined, { kind: 'server_error' }, { count: null });

  const answer = await stack.api.post(`/v1/vpn/subscriptions/${active}/cancel`, { reason: 'The customer ended it.' });
  expect(answer.status, answer.text).toBe(202);
  await desk.topUp(esims[4]!, PACKAGE.completedAtOnce);
  await desk.cancel(esims[5]!);
  await desk.subscribe(302);
  while (desk.accepted.length < PIECES) await desk.place(PACKAGE.completedAtOnce);
}

/** Sends whose answer is lost, wrong or missing, some of them after the service has executed them. */
async function failSends(esims: readonly string[]): Promise<void> {
  const { simulator } = desk;
  for (const [n, fault] of SEND_FAULTS.entries())
    await simulator.onRequest('createOrder', fault, { nth: 1 + n * SHARE, count: SHARE });
  const allOthers = { nth: 1 + SEND_FAULTS.length * SHARE, count: null };
  await simulator.onRequest('createOrder', { kind: 'server_error' }, allOthers);
  for (const endpoint of ['createTopup', 'createVpnOrder', 'cancelEsim'] as const) {
    await simulator.onRequest(endpoint, { kind: 'server_error', after_work: true }, { count: 1 });
    await simulator.onRequest(endpoint, { kind: 'server_error' }, { nth: 2, count: null });
  }
  const ids = await Promise.all([
    ...Array.from({ length: SHARE * (SEND_FAULTS.length + 1) }, (_, n) =>
      desk.place(n % 3 === 0 ? PACKAGE.processingThenCompleted : PACKAGE.completedAtOnce),
    ),
    ...[0, 1].map((n) => desk.topUp(esims[n]!, PACKAGE.completedAtOnce)),
    ...[301, 391].map((plan) => desk.subscribe(plan)),
    ...[2, 3].map((n) => desk.cancel(esims[n]!)),
  ]);
  for (const id of ids) {
    await waitFor(`${id} was sent`, async () =>
      (await desk.attemptsOf(id)).some(({ sends, state }) => sends > 0 && state !== 'sending'),
    );
  }
}

it('an outage of the service that is longer than every window pays nothing twice and leaves no case', async () => {
  await beginOutage();
  const interrupted = await openWorkIs('all work is held or needs attention', ({ status }) =>
    ['held', 'needs_attention'].includes(status),
  );
  expect(interrupted.length).toBeGreaterThanOrEqual(PIECES / 2);

  const removed = await stack.simulator.call('DELETE', '/simulator/faults', {});
  expect(removed.status).toBeLessThan(300);
  await desk.simulator.onWebhook(undefined, { kind: 'lost' }, { count: null });
  await openWorkIs('all work has ended', () => false);
  await desk.checkBooks();

  // Cases that close by themselves are closed after the outage.
  const isLeft = and(isNull(cases.closedAt), inArray(cases.reason, ['service_not_answering', 'stalled']));
  expect(await stack.database.run((db) => db.select().from(cases).where(isLeft))).toEqual([]);
  const rows = await stack.database.run((db) => db.select().from(attempts));
  // No second attempt without a failure that the service reported for the first.
  for (const { subjectId, number } of rows.filter((row) => row.number > 1)) {
    const before = rows.find((row) => row.subjectId === subjectId && row.number === number - 1);
    expect(before).toMatchObject({ state: 'failed', settled: true });
  }
});
