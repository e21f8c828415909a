import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { afterEach, describe, expect, it } from 'vitest';
import { checkWebhookArrival } from '#cli/doctor/service/webhook-arrival.ts';
import { findAttemptById } from '#db/attempts/attempts.ts';
import { runWrites } from '#db/connection/alongside.ts';
import { findReconciliation, type ReconciliationRow } from '#db/money/reconciliations.ts';
import { missedWebhooks } from '#db/queues/webhook-arrival.ts';
import { attempts, cases, gateSpending, journal, orders, vpnSubscriptions, walletMovements } from '#db/schema.ts';
import { closingCases } from '#db/work/cases.ts';
import { createMetrics } from '#telemetry/metrics.ts';
import { ActivityBench } from '#test/support/work/activities/activity-bench.ts';
import { deliverTestEvent } from '#test/support/work/order-rows.ts';
import { databaseGauges } from '#worker/health/gauges.ts';

/** Longer than the grace period, by more than the possible difference of the two clocks. */
const GRACE = 31 * 60_000;
const HOUR = 3_600_000;

let bench: ActivityBench;
afterEach(() => bench[Symbol.asyncDispose]());

/** Compares the books once. @returns the report. */
async function compare(runId: string = randomUUID()): Promise<ReconciliationRow> {
  const { id } = await bench.activities.reconcileBooks({ runId });
  const report = await bench.database.run((db) => findReconciliation(db, id));
  return report!;
}

async function buy() {
  const ids = await bench.begin();
  await bench.activities.sendPurchase(ids);
  const attempt = await bench.database.run((db) => findAttemptById(db, ids.attemptId));
  return { ...ids, serviceId: attempt.serviceId! };
}

async function buyToTheEnd() {
  const ids = await buy();
  await bench.activities.completePurchase({ ...ids, applied: [] });
  return ids;
}

const booked = () =>
  bench.database.run(async (db) =>
    (await db.select().from(journal).orderBy(journal.id)).map(
      ({ direction, amount, causeKind, causeId }) =>
        `${direction} ${Number(amount).toFixed(2)} ${causeKind} ${causeId}`,
    ),
  );
const openCases = (subjectId: string) =>
  bench.database.run(async (db) =>
    (await db.select().from(cases).where(eq(cases.subjectId, subjectId))).filter((each) => each.closedAt === null),
  );
const findingsOf = ({ findings }: ReconciliationRow) => findings.map(({ kind }) => kind);

/** The expected balance of the books equals the balance of the wallet at the service. */
function expectBalanced(report: ReconciliationRow): void {
  expect(report.status).toBe('complete');
  expect(Number(report.expectedBalance)).toBeCloseTo(Number(report.balance), 6);
  expect(report.findingCounts.balance_differs).toBeUndefined();
}

describe('a comparison of the books', () => {
  it('records the cost of a purchase without a reported price, and a charge above the limit', async () => {
    bench = await ActivityBench.start();
    const unsaid = await buyToTheEnd();
    const said = await buyToTheEnd();
    const nothing = { chargedAmount: null, chargedCurrency: null };
    await bench.database.run(async (db) => {
      await db
        .update(attempts)
        .set({ ...nothing, limitAmount: '1', limitCurrency: 'USD' })
        .where(eq(attempts.id, unsaid.attemptId));
      await db.update(orders).set(nothing).where(eq(orders.id, unsaid.work.id));
      await db.update(attempts).set({ chargedAmount: '2.39' }).where(eq(attempts.id, said.attemptId));
    });
    await compare();
    const rows = await bench.database.run((db) => db.select().from(orders));
    expect(rows.map(({ id, chargedAmount }) => [id, Number(chargedAmount)])).toEqual(
      expect.arrayContaining([
        [unsaid.work.id, 2.4],
        [said.work.id, 2.4],
      ]),
    );
    expect(Number((await bench.database.run((db) => findAttemptById(db, unsaid.attemptId))).chargedAmount)).toBe(2.4);
    expect((await openCases(unsaid.work.id)).map(({ reason }) => reason)).toEqual(['charged_above_limit']);
    expect(Number((await bench.database.run((db) => findAttemptById(db, said.attemptId))).chargedAmount)).toBe(2.39);
  });

  it('logs totals of the purchase gate that differ from the sums of their rows once, and corrects them', async () => {
    bench = await ActivityBench.start();
    await buyToTheEnd();
    await bench.database.run((db) => db.update(gateSpending).set({ amount: '9' }));
    const said = () => bench.log.filter((line) => line.includes('totals of the purchase gate'));
    await compare();
    expect(said()).toHaveLength(1);
    expect(said()[0]).toContain('"kept":"9.000000","summed":"2.400000"');
    await compare();
    expect(said()).toHaveLength(1);
  });

  it('finds the cause of each movement (purchase, failure, deposit), and its sum is the balance', async () => {
    bench = await ActivityBench.start();
    const bought = await buyToTheEnd();
    await bench.admin.nextPurchases({ outcome: 'failed_at_once' });
    const failed = await buy();
    await bench.admin.deposit('50.00');
    const report = await compare();
    expectBalanced(report);
    expect(findingsOf(report)).toEqual([]);
    expect(report.counts).toMatchObject({ read: 5, new: 5, matched: 5, unmatched: 0, outstanding: 0 });
    const rows = await booked();
    expect(rows).toEqual(
      expect.arrayContaining([
        `debit 2.40 attempt ${bought.attemptId}`,
        `debit 2.40 attempt ${failed.attemptId}`,
        `credit 2.40 attempt ${failed.attemptId}`,
        expect.stringMatching(/^credit 50\.00 deposit /),
        expect.stringMatching(/^credit 100000\.00 deposit /),
        'credit 0.00 adjustment opening balance',
      ]),
    );
    // A second run books and stores nothing again.
    const again = await compare();
    expect(again.counts).toMatchObject({ new: 0, matched: 0, booked: 0, findings: 0 });
    expect(await booked()).toEqual(rows);
    expectBalanced(again);
  });

  it('repeated for one run leaves the same rows and the same report', async () => {
    bench = await ActivityBench.start();
    await buyToTheEnd();
    const first = await bench.activities.reconcileBooks({ runId: 'run-1' });
    const before = await bench.rows();
    expect(await bench.activities.reconcileBooks({ runId: 'run-1' })).toEqual(first);
    expect(await bench.rows()).toEqual(before);
    const both = await Promise.all([
      bench.activities.reconcileBooks({ runId: 'run-2' }),
      bench.activities.reconcileBooks({ runId: 'run-2' }),
    ]);
    expect(both[1]).toEqual(both[0]);
  });

  it('uses the earlier content of the wallet as the opening balance', async () => {
    bench = await ActivityBench.start();
    // Before this database was in use, so it is not read.
    await bench.pass(3 * HOUR);
    const { stampOrVerify } = await import('#db/connection/installation.ts');
    const { installation } = await import('#db/schema.ts');
    await bench.database.run((db) =>
      stampOrVerify(db, { serviceBaseUrl: 'http://x/api/reseller/v1', serviceMode: 'sandbox' }),
    );
    await bench.database.run((db) => db.update(installation).set({ stampedAt: new Date(bench.clock.now) }));
    await buyToTheEnd();
    const report = await compare();
    expect(report.counts.read).toBe(1);
    expectBalanced(report);
    expect(await booked()).toContain('credit 100000.00 adjustment opening balance');
  });

  it('reports an order made outside of the product after the grace period, without a case', async () => {
    bench = await ActivityBench.start();
    await bench.service.createOrder({
      idempotencyKey: randomUUID(),
      reference: 'by-hand',
      packageId: 1001,
      body: Buffer.from('{"package_id":1001,"external_order_id":"by-hand"}'),
    });
    const young = await compare();
    expect(findingsOf(young)).toEqual([]);
    expect(young.counts).toMatchObject({ pending: 1, unmatched: 0 });
    expectBalanced(young);
    await bench.pass(GRACE);
    for (const report of [await compare(), await compare()]) {
      expect(report.findings).toMatchObject([
        { kind: 'orphan_movement', direction: 'debit', money: { amount: '2.40', currency: 'USD' } },
      ]);
      expectBalanced(report);
    }
    expect(await bench.database.run((db) => db.select().from(cases))).toEqual([]);
    const metrics = createMetrics({ processMetrics: false });
    metrics.refreshWith(
      databaseGauges(bench.database, metrics, {
        webhookSilence: { windowMs: HOUR, reports: 5 },
        now: () => bench.clock.now + 7_000,
      }),
    );
    const { body } = await metrics.render();
    expect(body).toContain('reseller_books_findings{kind="orphan_movement"} 1');
    expect(body).toContain('reseller_books_findings{kind="debited_twice"} 0');
    expect(body).toContain('reseller_books_age_seconds 7');
    expect(body).toContain('reseller_wallet_balance{currency="USD"} 99997.6');
    expect(bench.log.join('')).toContain('orphan_movement');
  });

  it('reports debits without any id', async () => {
    bench = await ActivityBench.start();
    await bench.admin.move({ type: 'debit', amount: '7.00', reason: 'fee' });
    await bench.pass(GRACE);
    expect(findingsOf(await compare())).toEqual(['unnamed_movement']);
  });

  it('reports a second debit with one case on its order, and matches the credit that returns it', async () => {
    bench = await ActivityBench.start();
    const { work, serviceId } = await buyToTheEnd();
    await bench.admin.move({ type: 'debit', amount: '2.40', reason: 'order', order_id: serviceId });
    expect(findingsOf(await compare())).toEqual([]);
    await bench.pass(GRACE);
    const report = await compare();
    expect(report.findings).toMatchObject([{ kind: 'debited_twice', work }]);
    expectBalanced(report);
    // An operator judges it, regardless of the state of the order.
    await bench.database.transaction((tx) =>
      runWrites(tx, [closingCases(tx, work, 'The order went on.', new Date(bench.clock.now))]),
    );
    expect(await openCases(work.id)).toMatchObject([{ reason: 'debited_twice' }]);
    expect(findingsOf(await compare())).toEqual([]);
    await bench.admin.move({ type: 'credit', amount: '2.40', reason: 'refund', order_id: serviceId });
    const credited = await compare();
    expect(findingsOf(credited)).toEqual([]);
    expectBalanced(credited);
    expect((await booked()).filter((row) => row.includes('refund'))).toEqual([]);
    await bench.admin.move({ type: 'credit', amount: '2.40', reason: 'refund', order_id: serviceId });
    expectBalanced(await compare());
    expect(await booked()).toContain(`credit 2.40 refund ${work.id}`);
  });

  it('books a late debit of an order that failed, and a case stays open until the charge is known', async () => {
    bench = await ActivityBench.start();
    await bench.admin.dialect('late_debits');
    await bench.admin.nextPurchases({ outcome: 'failed_at_once', credit_after_ms: null });
    const { work, attemptId } = await buy();
    // The wallet showed no debit, so the order has failed.
    expect((await bench.activities.readDebitEvidence({ work, attemptId })).evidence).toBe('no_debit');
    await bench.database.run((db) => db.update(orders).set({ status: 'failed' }).where(eq(orders.id, work.id)));
    expect((await compare()).counts.booked).toBe(2);
    await bench.pass(GRACE + HOUR);
    const report = await compare();
    expect(await booked()).toContain(`debit 2.40 attempt ${attemptId}`);
    expect(report.findings).toMatchObject([{ kind: 'charge_not_refunded', work }]);
    expectBalanced(report);
    // The finding remains until the credit. A closed case does not open again.
    await bench.database.run((db) => db.update(cases).set({ closedAt: new Date(bench.clock.now) }));
    expect(findingsOf(await compare())).toEqual(['charge_not_refunded']);
    expect(await openCases(work.id)).toEqual([]);
  });

  it('books the movements of work that needs attention with an unknown outcome', async () => {
    bench = await ActivityBench.start();
    await bench.admin.onRequest('createOrder', { kind: 'accepted_but_answer_lost' });
    const ids = await bench.begin();
    await bench.activities.sendPurchase(ids);
    expect(await booked()).toEqual([]);
    expectBalanced(await compare());
    expect(await booked()).toContain(`debit 2.40 attempt ${ids.attemptId}`);
  });

  it('books each later period of a VPN subscription with its own cause', async () => {
    bench = await ActivityBench.start();
    const ids = await bench.beginSubscription();
    await bench.activities.sendPurchase(ids);
    await bench.activities.completePurchase({ ...ids, applied: [] });
    const { serviceId } = await bench.database.run((db) => findAttemptById(db, ids.attemptId));
    const first = (await bench.admin.ledger()).find(({ reason }) => reason === 'vpn');
    const renewal = { type: 'debit', amount: first!.amount, reason: 'vpn', vpn_subscription_id: serviceId! } as const;
    for (const days of [30, 30]) {
      await bench.pass(days * 24 * HOUR);
      await bench.admin.move(renewal);
      expectBalanced(await compare());
    }
    const rows = (await booked()).filter((row) => row.includes('subscription_period'));
    expect(rows.map((row) => row.split(' ').at(-1))).toEqual([`${ids.work.id}/2`, `${ids.work.id}/3`]);
    // After the end of the subscription, a debit is no period.
    await bench.database.run((db) =>
      db
        .update(vpnSubscriptions)
        .set({ status: 'expired', endedAs: 'expired', updatedAt: new Date(bench.clock.now) })
        .where(eq(vpnSubscriptions.id, ids.work.id)),
    );
    await bench.pass(30 * 24 * HOUR);
    await bench.admin.move(renewal);
    await bench.pass(GRACE);
    const ended = await compare();
    expect(ended.findings).toMatchObject([
      { kind: 'debited_twice', work: ids.work, detail: expect.stringContaining('which had ended') },
    ]);
    expectBalanced(ended);
  });

  it('corrects an amount that differs from the reported amount, and reports the difference', async () => {
    bench = await ActivityBench.start();
    const { work, attemptId } = await buyToTheEnd();
    // The journal is append-only, so the test changes the reported amount instead.
    await bench.database.run((db) =>
      db.insert(journal).values({
        direction: 'debit',
        amount: '9.99',
        currency: 'USD',
        causeKind: 'attempt',
        causeId: `${attemptId}x`,
      }),
    );
    await bench.database.run((db) =>
      db
        .update(attempts)
        .set({ id: `${attemptId}x` })
        .where(eq(attempts.id, attemptId)),
    );
    const report = await compare();
    expect(report.findings).toMatchObject([{ kind: 'amount_differs', work }]);
    expect(await openCases(work.id)).toMatchObject([{ reason: 'amount_differs' }]);
    expect(await booked()).toContainEqual(expect.stringMatching(/^credit 7\.59 adjustment /));
    expectBalanced(report);
  });

  it('reports a booked movement that the service does not show, and opens one case', async () => {
    bench = await ActivityBench.start();
    const ids = await bench.begin();
    await bench.database.run((db) =>
      db
        .insert(journal)
        .values({ direction: 'debit', amount: '2.40', currency: 'USD', causeKind: 'attempt', causeId: ids.attemptId }),
    );
    await bench.pass(GRACE);
    const report = await compare();
    expect(report.findings).toMatchObject([{ kind: 'movement_missing', work: ids.work, attemptId: ids.attemptId }]);
    expectBalanced(report);
    await compare();
    expect(await openCases(ids.work.id)).toHaveLength(1);
  });

  it('is unsupported without wallet transactions, and still checks the balance', async () => {
    bench = await ActivityBench.start({ capabilities: { wallet_transactions: false } });
    bench.gate.lowBalance = { amount: '100000.01', currency: 'USD' };
    const report = await compare();
    expect(report).toMatchObject({
      status: 'unsupported',
      detail: expect.stringContaining('shows no wallet transactions'),
    });
    expect([findingsOf(report), bench.crossings]).toEqual([[], ['low']]);
    expect(await bench.admin.requests('listWalletTransactions')).toEqual([]);
  });

  it('is incomplete when the wallet has more movements than its page limit, and continues there', async () => {
    bench = await ActivityBench.start({ books: { pages: 1 } });
    for (let count = 0; count < 120; count += 1) await bench.admin.deposit('1.00');
    const report = await compare();
    expect(report).toMatchObject({ status: 'incomplete', expectedBalance: null, counts: { read: 100 } });
    expect(report.detail).toContain('more movements');
  });

  it('is unavailable and books nothing when the service does not answer', async () => {
    bench = await ActivityBench.start();
    await bench.admin.onRequest('listWalletTransactions', { kind: 'server_error' });
    expect(await compare()).toMatchObject({ status: 'unavailable', counts: { read: 0, booked: 0 } });
    expect(await bench.database.run((db) => db.select().from(walletMovements))).toEqual([]);
  });

  it('reports a balance that differs from the sum of the movements', async () => {
    bench = await ActivityBench.start();
    await compare();
    await bench.database.run((db) =>
      db.insert(journal).values({
        direction: 'credit',
        amount: '5.00',
        currency: 'USD',
        causeKind: 'adjustment',
        causeId: 'a slip of ours',
      }),
    );
    const report = await compare();
    expect(report.findings).toMatchObject([{ kind: 'balance_differs', money: { amount: '-5.00', currency: 'USD' } }]);
  });
});

/** Buys orders without any later report of the service. */
async function silence(count: number): Promise<void> {
  await bench.admin.nextPurchases({ outcome: 'stay_processing', count });
  for (let left = count; left > 0; left -= 20) {
    await Promise.all(
      Array.from({ length: Math.min(left, 20) }, async () => {
        await bench.activities.sendPurchase(await bench.begin());
      }),
    );
  }
}

describe('the reconciler of silent work', () => {
  it('looks up many silent orders with one call per page of their list', async () => {
    bench = await ActivityBench.start({ reconcile: { listPages: 40 } });
    const silent = 120;
    await silence(silent);
    const sold = await bench.admin.orders();
    for (const { id } of sold.slice(0, 60)) await bench.admin.completeOrder(id);
    await bench.pass(10 * 60_000);
    const result = await bench.activities.reconcileSilentWork();
    expect(result).toEqual({ lookedUp: silent, newReports: 60 });
    expect(await bench.admin.requests('listOrders')).toHaveLength(Math.ceil(silent / 100));
    expect(await bench.admin.requests('getOrder')).toHaveLength(0);
    // Looked up once, so the next run has nothing to do.
    expect(await bench.activities.reconcileSilentWork()).toEqual({ lookedUp: 0, newReports: 0 });
    // Five missed webhooks in a row count as missing webhooks, until the first webhook arrives.
    const policy = { windowMs: 60 * 60_000, reports: 5 };
    const missed = () => bench.database.run((db) => missedWebhooks(db, policy, new Date()));
    expect(await missed()).toBe(5);
    expect(bench.log.join('')).toContain('webhooks do not arrive');
    const metrics = createMetrics({ processMetrics: false });
    metrics.refreshWith(databaseGauges(bench.database, metrics, { webhookSilence: policy, now: Date.now }));
    expect((await metrics.render()).body).toContain('reseller_webhooks_missed 5');
    const records = { webhooksMissed: await missed(), refusedPrefix: undefined };
    expect(checkWebhookArrival(records)).toMatchObject({ status: 'warning' });
    // Old reports do not count.
    expect(await bench.database.run((db) => missedWebhooks(db, policy, new Date(Date.now() + 2 * HOUR)))).toBe(0);
    await deliverTestEvent(bench.database, { outcome: 'processing', serviceId: 'so-any', reference: 'any' });
    expect(await missed()).toBe(0);
    expect((await metrics.render()).body).toContain('reseller_webhooks_missed 0');
  });

  it('looks up orders outside of the list one by one, up to its limit', async () => {
    bench = await ActivityBench.start({ reconcile: { listFrom: 10, listPages: 1, readsPerRun: 7 } });
    await silence(130);
    await bench.pass(10 * 60_000);
    expect(await bench.activities.reconcileSilentWork()).toEqual({ lookedUp: 107, newReports: 0 });
    expect(await bench.admin.requests('listOrders')).toHaveLength(1);
    expect(await bench.admin.requests('getOrder')).toHaveLength(7);
  });

  it('looks up orders one by one when the list cannot be read', async () => {
    bench = await ActivityBench.start();
    await silence(12);
    await bench.pass(10 * 60_000);
    await bench.admin.onRequest('listOrders', { kind: 'server_error' });
    expect(await bench.activities.reconcileSilentWork()).toEqual({ lookedUp: 12, newReports: 0 });
  });

  it('looks up orders one by one when the service has no list of orders', async () => {
    bench = await ActivityBench.start({ capabilities: { order_list: false } });
    await silence(12);
    await bench.pass(10 * 60_000);
    expect(await bench.activities.reconcileSilentWork()).toEqual({ lookedUp: 12, newReports: 0 });
    expect(await bench.admin.requests('listOrders')).toEqual([]);
    expect(await bench.admin.requests('getOrder')).toHaveLength(12);
  });
});
