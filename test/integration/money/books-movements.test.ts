import { eq } from 'drizzle-orm';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { stampOrVerify } from '#db/connection/installation.ts';
import { attempts, cases, installation, orders, vpnSubscriptions } from '#db/schema.ts';
import { vpnSubscriptionReads } from '#db/work/vpn-subscriptions.ts';
import { ActivityBench } from '#test/support/work/activities/activity-bench.ts';
import { comparisonOf, expectBalanced, findingsOf, GRACE } from '#test/support/work/books/comparison.ts';

const HOUR = 3_600_000;

let bench: ActivityBench;
beforeEach(async () => {
  bench = await ActivityBench.start();
});
afterEach(() => bench[Symbol.asyncDispose]());

const { compare, buy, buyToTheEnd, booked, openCases } = comparisonOf(() => bench);

describe('a comparison of the books', () => {
  it('records the cost of a purchase without a reported price, and a charge above the limit', async () => {
    const unsaid = await buyToTheEnd();
    const said = await buyToTheEnd();
    const nothing = { chargedAmount: null, chargedCurrency: null };
    const limited = { ...nothing, limitAmount: '1', limitCurrency: 'USD' };
    await bench.database.run(async (db) => {
      await db.update(attempts).set(limited).where(eq(attempts.id, unsaid.attemptId));
      await db.update(orders).set(nothing).where(eq(orders.id, unsaid.work.id));
      await db.update(attempts).set({ chargedAmount: '2.39' }).where(eq(attempts.id, said.attemptId));
    });
    await compare();
    const rows = await bench.database.run((db) => db.select().from(orders));
    const charged = new Map(rows.map(({ id, chargedAmount }) => [id, Number(chargedAmount)]));
    expect([charged.get(unsaid.work.id), charged.get(said.work.id)]).toEqual([2.4, 2.4]);
    expect(Number((await bench.attempt(unsaid)).chargedAmount)).toBe(2.4);
    expect((await openCases(unsaid.work.id)).map(({ reason }) => reason)).toEqual(['charged_above_limit']);
    expect(Number((await bench.attempt(said)).chargedAmount)).toBe(2.39);
  });

  it('finds the cause of each movement (purchase, failure, deposit), and its sum is the balance', async () => {
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

  it('uses the earlier content of the wallet as the opening balance', async () => {
    // Before this database was in use, so it is not read.
    await bench.pass(3 * HOUR);
    await bench.database.run(async (db) => {
      await stampOrVerify(db, { serviceBaseUrl: 'http://x/api/reseller/v1', serviceMode: 'sandbox' });
      await db.update(installation).set({ stampedAt: new Date(bench.clock.now) });
    });
    await buyToTheEnd();
    const report = await compare();
    expect(report.counts.read).toBe(1);
    expectBalanced(report);
    expect(await booked()).toContain('credit 100000.00 adjustment opening balance');
  });

  it('books a late debit of an order that failed, and a case stays open until the charge is known', async () => {
    await bench.admin.dialect('late_debits');
    await bench.admin.nextPurchases({ outcome: 'failed_at_once', credit_after_ms: null });
    const { work, attemptId } = await buy();
    // A debit may still appear, so nothing is proven. An operator lets the order fail all the same.
    expect((await bench.activities.readDebitEvidence({ work, attemptId })).evidence).toBe('awaited');
    await bench.database.run(async (db) => {
      await db.update(attempts).set({ settled: true }).where(eq(attempts.id, attemptId));
      await db.update(orders).set({ status: 'failed' }).where(eq(orders.id, work.id));
    });
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
    await bench.admin.onRequest('createOrder', { kind: 'accepted_but_answer_lost' });
    const ids = await bench.begin();
    await bench.activities.sendPurchase(ids);
    expect(await booked()).toEqual([]);
    expectBalanced(await compare());
    expect(await booked()).toContain(`debit 2.40 attempt ${ids.attemptId}`);
  });

  it('books each later period of a VPN subscription with its own cause', async () => {
    const ids = await bench.beginSubscription();
    await bench.buy(ids);
    const { serviceId } = await bench.attempt(ids);
    const first = (await bench.admin.ledger()).find(({ reason }) => reason === 'vpn');
    const renewal = { type: 'debit', amount: first!.amount, reason: 'vpn', vpn_subscription_id: serviceId! } as const;
    for (const days of [30, 30]) {
      await bench.pass(days * 24 * HOUR);
      await bench.admin.move(renewal);
      // It is later than the paid period as far as it is known, so the end of the subscription is awaited first.
      expectBalanced(await compare());
      await bench.pass(GRACE);
      expectBalanced(await compare());
    }
    const rows = (await booked()).filter((row) => row.includes('subscription_period'));
    expect(rows.map((row) => row.split(' ').at(-1))).toEqual([`${ids.work.id}/2`, `${ids.work.id}/3`]);
    const stored = await bench.database.run((db) => vpnSubscriptionReads.find(db, ids.work.id, undefined));
    expect(stored?.debits.map(({ amount }) => Number(amount))).toEqual(rows.map(() => Number(first!.amount)));
    // After the end of the subscription, a debit is no period.
    const over = { status: 'expired', endedAs: 'expired', updatedAt: new Date(bench.clock.now) } as const;
    await bench.database.run((db) => db.update(vpnSubscriptions).set(over).where(eq(vpnSubscriptions.id, ids.work.id)));
    await bench.pass(30 * 24 * HOUR);
    await bench.admin.move(renewal);
    await bench.pass(GRACE);
    const ended = await compare();
    const detail = expect.stringContaining('which had ended');
    expect(ended.findings).toMatchObject([{ kind: 'debited_twice', work: ids.work, detail }]);
    expectBalanced(ended);
  });
});
