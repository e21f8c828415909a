import { randomUUID } from 'node:crypto';
import { eq, inArray } from 'drizzle-orm';
import { afterEach, describe, expect, it } from 'vitest';
import { checkWebhookArrival } from '#cli/doctor/checks/webhooks.ts';
import { missedWebhooks } from '#db/queues/inbox.ts';
import { takeInbox } from '#db/queues/relay-queues.ts';
import { attempts, inbox } from '#db/schema.ts';
import { findAttemptById } from '#db/work/attempts.ts';
import type { AttemptRow } from '#db/work/rows.ts';
import type { AttemptRef } from '#domain/purchase/results.ts';
import { ownReference } from '#fulfilment/purchase/listing.ts';
import { judgeReport } from '#fulfilment/reports/judge-report.ts';
import { createMetrics } from '#telemetry/metrics.ts';
import { ActivityBench } from '#test/support/work/activities/activity-bench.ts';
import { deliverTestEvent } from '#test/support/work/order-rows.ts';
import { vpnOrderRequestBytes } from '#upstream/client/request-bytes.ts';
import { databaseGauges } from '#worker/gauges.ts';
import { readReport } from '#worker/relay/inbox.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
/** Enough for a look-up by list, and less than one page of it. */
const SILENT = 12;

let bench: ActivityBench;
afterEach(() => bench[Symbol.asyncDispose]());

type Behaviour = Parameters<ActivityBench['admin']['nextPurchases']>[0];
type Endpoint = NonNullable<Parameters<ActivityBench['admin']['onRequest']>[0]>;

/** A kind of work other than orders. */
interface Kind {
  readonly send: Endpoint;
  readonly list: Endpoint;
  /** The calls of a single look-up with a known id. */
  readonly single: readonly Endpoint[];
  readonly begin: () => Promise<AttemptRef>;
  /** Accepted, and then without any report. */
  readonly accepted: Behaviour;
  /** The service decides without a webhook. @param nth from 0. */
  readonly decide: (serviceId: string, nth: number) => Promise<void>;
  /** New reports about six accepted items, three of them decided. */
  readonly newReports: number;
}

const KINDS: Readonly<Record<string, Kind>> = {
  'top-ups': {
    send: 'createTopup',
    list: 'listTopups',
    single: ['getTopup'],
    begin: () => bench.beginTopup(),
    accepted: { operation: 'topup', outcome: 'stay_processing' },
    decide: (id) => bench.admin.completeTopup(id),
    newReports: 3,
  },
  'VPN subscriptions': {
    send: 'createVpnOrder',
    list: 'listVpnSubscriptions',
    single: ['getVpnSubscription'],
    begin: () => bench.beginSubscription(),
    accepted: { operation: 'vpn', outcome: 'stay_processing' },
    decide: (id) => bench.admin.completeSubscription(id),
    newReports: 3,
  },
  cancellations: {
    send: 'cancelEsim',
    list: 'listRefunds',
    single: ['getRefund', 'getEsim'],
    begin: () => bench.beginCancellation(),
    accepted: { operation: 'cancellation', outcome: 'accepted', delay_ms: 30 * DAY },
    decide: (id, nth) => bench.admin.decideRefund(id, nth === 0 ? 'fail' : 'complete'),
    // Each reports once that its eSIM is cancelled.
    newReports: 6,
  },
};
const SUBSCRIPTIONS = KINDS['VPN subscriptions']!;

/** Sends work with the answer `processing` and no later report. */
async function accept({ begin, accepted }: Kind, count: number): Promise<AttemptRow[]> {
  const begun = await Promise.all(Array.from({ length: count }, begin));
  await bench.admin.nextPurchases({ ...accepted, count });
  return send(begun);
}

/** Sends work with unreadable answers, which open no circuit. The service executes all of it. */
async function lose(kind: Kind, begun: readonly AttemptRef[]): Promise<AttemptRow[]> {
  await bench.admin.onRequest(kind.send, { kind: 'garbage_body' }, { count: begun.length });
  return send(begun);
}

async function send(begun: readonly AttemptRef[]): Promise<AttemptRow[]> {
  await Promise.all(begun.map((each) => bench.activities.sendPurchase(each)));
  return attemptsOf(begun.map(({ attemptId }) => attemptId));
}

const attemptsOf = (ids: string[]) =>
  bench.database.run((db) => db.select().from(attempts).where(inArray(attempts.id, ids)));

const half = <Each>(each: Each): Each[] => Array.from({ length: SILENT / 2 }, () => each);

/** One run of the reconciler after some silence. @returns its result, and the number of calls of each endpoint. */
async function reconcile(endpoints: readonly Endpoint[]) {
  await bench.pass(10 * MINUTE);
  const calls = () => Promise.all(endpoints.map(async (endpoint) => (await bench.admin.requests(endpoint)).length));
  const before = await calls();
  const result = await bench.activities.reconcileSilentWork();
  const after = await calls();
  return { result, calls: after.map((count, index) => count - before[index]!) };
}

/** Judges the pending rows of the inbox as the relay does. @returns the number of attempts in each state. */
async function statesOnceJudged(rows: readonly AttemptRow[]) {
  const now = new Date(Date.now() + MINUTE);
  for (const row of await bench.database.run((db) => takeInbox(db, { batch: 100, leaseMs: MINUTE })))
    await judgeReport(bench.database, row, readReport(bench.keyRing, row), now, MINUTE, () => Buffer.alloc(0));
  const found = await attemptsOf(rows.map(({ id }) => id));
  return Object.fromEntries([...Map.groupBy(found, ({ state }) => state)].map(([state, all]) => [state, all.length]));
}

/** Some work with an answer and some without. @returns the result of a run, and the calls of each endpoint. */
async function reconcileSome(kind: Kind, endpoints: readonly Endpoint[]) {
  const accepted = await accept(kind, SILENT / 2);
  const lost = await lose(kind, await Promise.all(Array.from({ length: SILENT / 2 }, kind.begin)));
  expect(accepted.map(({ state, serviceId }) => [state, serviceId === null])).toEqual(half(['processing', false]));
  expect(lost.map(({ state, serviceId }) => [state, serviceId])).toEqual(half(['unknown', null]));
  for (const [nth, { serviceId }] of accepted.slice(0, 3).entries()) await kind.decide(serviceId!, nth);

  const { result, calls } = await reconcile(endpoints);
  expect(result).toEqual({ lookedUp: SILENT, newReports: kind.newReports + SILENT / 2 });
  expect(await statesOnceJudged([...accepted, ...lost])).toEqual({ completed: 3 + SILENT / 2, processing: 3 });
  // Looked up once, so the next run has nothing to do.
  expect(await bench.activities.reconcileSilentWork()).toEqual({ lookedUp: 0, newReports: 0 });
  return calls;
}

describe('the reconciler', () => {
  it('looks up many silent VPN subscriptions with one call per page of their list, and stores new reports', async () => {
    bench = await ActivityBench.start();
    expect(await reconcileSome(SUBSCRIPTIONS, ['listVpnSubscriptions', 'getVpnSubscription'])).toEqual([1, 0]);
  });

  it.each(['top-ups', 'cancellations'])('looks up silent %s one by one, and stores new reports', async (noun) => {
    bench = await ActivityBench.start();
    const kind = KINDS[noun]!;
    expect((await reconcileSome(kind, kind.single)).every((calls) => calls > 0)).toBe(true);
  });

  it('looks up VPN subscriptions one by one when the list shows several candidates', async () => {
    bench = await ActivityBench.start();
    const begun = await Promise.all(Array.from({ length: SILENT }, SUBSCRIPTIONS.begin));
    const row = await bench.database.run((db) => findAttemptById(db, begun[0]!.attemptId));
    const lost = await lose(SUBSCRIPTIONS, begun);
    // A purchase outside of the product with the reference of an attempt.
    await bench.admin.dialect('reusable_references');
    const wanted = { idempotencyKey: randomUUID(), vpnPlanId: 301, reference: ownReference(row) };
    const body = vpnOrderRequestBytes({ ...wanted, customerReference: 'C-1', customerPrice: '29.99' });
    expect(await bench.service.createVpnOrder({ ...wanted, body })).toMatchObject({ ok: true });

    const { result, calls } = await reconcile([SUBSCRIPTIONS.list]);
    expect(result).toEqual({ lookedUp: SILENT, newReports: SILENT - 1 });
    expect(calls).toEqual([2]);
    expect(await statesOnceJudged(lost)).toEqual({ completed: SILENT - 1, unknown: 1 });
  });

  it('also looks up the eSIM while a refund is under review', async () => {
    bench = await ActivityBench.start();
    const accepted: Behaviour = { operation: 'cancellation', outcome: 'manual_review' };
    const [first] = await accept({ ...KINDS['cancellations']!, accepted }, 2);
    await bench.admin.decideRefund(first!.serviceId!, 'refuse');
    const { result, calls } = await reconcile(['getEsim']);
    expect(result).toEqual({ lookedUp: 2, newReports: 1 });
    expect(calls).toEqual([2]);
    const ofWork = eq(inbox.subjectKind, 'cancellation');
    const reports = await bench.database.run((db) => db.select().from(inbox).where(ofWork));
    expect(reports).toMatchObject([{ event: 'refund.failed', outcome: 'failed', serviceId: first!.serviceId }]);
  });
});

/** Buys orders without any later report of the service. */
async function silence(count: number): Promise<void> {
  await bench.admin.nextPurchases({ outcome: 'stay_processing', count });
  const buy = async () => bench.activities.sendPurchase(await bench.begin());
  // More than five at a time would wait for a connection longer than the product does.
  for (let left = count; left > 0; left -= 5) await Promise.all(Array.from({ length: Math.min(left, 5) }, buy));
}

describe('the reconciler of silent work', () => {
  it('looks up many silent orders with one call per page of their list', async () => {
    bench = await ActivityBench.start({ reconcile: { listPages: 40 } });
    const silent = 120;
    await silence(silent);
    const sold = await bench.admin.orders();
    for (const { id } of sold.slice(0, 60)) await bench.admin.completeOrder(id);
    await bench.pass(10 * MINUTE);
    expect(await bench.activities.reconcileSilentWork()).toEqual({ lookedUp: silent, newReports: 60 });
    expect(await bench.admin.requests('listOrders')).toHaveLength(Math.ceil(silent / 100));
    expect(await bench.admin.requests('getOrder')).toHaveLength(0);
    // Looked up once, so the next run has nothing to do.
    expect(await bench.activities.reconcileSilentWork()).toEqual({ lookedUp: 0, newReports: 0 });
    // Five missed webhooks in a row count as missing webhooks, until the first webhook arrives.
    const policy = { windowMs: 60 * MINUTE, reports: 5 };
    const missed = () => bench.database.run((db) => missedWebhooks(db, policy, new Date()));
    expect(await missed()).toBe(5);
    expect(bench.log.join('')).toContain('webhooks do not arrive');
    const metrics = createMetrics({ processMetrics: false });
    metrics.refreshWith(databaseGauges(bench.database, metrics, { webhookSilence: policy, now: Date.now }));
    expect((await metrics.render()).body).toContain('reseller_webhooks_missed 5');
    const records = { webhooksMissed: await missed(), refusedPrefix: undefined };
    expect(checkWebhookArrival(records)).toMatchObject({ status: 'warning' });
    // Old reports do not count.
    expect(await bench.database.run((db) => missedWebhooks(db, policy, new Date(Date.now() + 120 * MINUTE)))).toBe(0);
    await deliverTestEvent(bench.database, { outcome: 'processing', serviceId: 'so-any', reference: 'any' });
    expect(await missed()).toBe(0);
    expect((await metrics.render()).body).toContain('reseller_webhooks_missed 0');
  });

  it('looks up orders outside of the list one by one, up to its limit', async () => {
    bench = await ActivityBench.start({ reconcile: { listFrom: 10, listPages: 1, readsPerRun: 7 } });
    await silence(130);
    await bench.pass(10 * MINUTE);
    expect(await bench.activities.reconcileSilentWork()).toEqual({ lookedUp: 107, newReports: 0 });
    expect(await bench.admin.requests('listOrders')).toHaveLength(1);
    expect(await bench.admin.requests('getOrder')).toHaveLength(7);
  });

  it.each([
    ['the list cannot be read', true, 1],
    ['the service has no list of orders', false, 0],
  ])('looks up orders one by one when %s', async (_why, hasList, listed) => {
    bench = await ActivityBench.start({ capabilities: { order_list: hasList } });
    await silence(12);
    await bench.pass(10 * MINUTE);
    await bench.admin.onRequest('listOrders', { kind: 'server_error' });
    expect(await bench.activities.reconcileSilentWork()).toEqual({ lookedUp: 12, newReports: 0 });
    expect(await bench.admin.requests('listOrders')).toHaveLength(listed);
    expect(await bench.admin.requests('getOrder')).toHaveLength(12);
  });
});
