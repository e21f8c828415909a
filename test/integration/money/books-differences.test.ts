import { randomUUID } from 'node:crypto';
import { eq, sql } from 'drizzle-orm';
import { afterEach, describe, expect, it } from 'vitest';
import { cases, journal, timeline, walletMovements } from '#db/schema.ts';
import { closeCases } from '#db/work/cases.ts';
import { shownGauges } from '#test/support/shown-gauges.ts';
import { ActivityBench } from '#test/support/work/activities/activity-bench.ts';
import { comparisonOf, expectBalanced, findingsOf, GRACE } from '#test/support/work/books/comparison.ts';

let bench: ActivityBench;
afterEach(() => bench[Symbol.asyncDispose]());

const { compare, buyToTheEnd, booked, openCases } = comparisonOf(() => bench);
/** A debit for an order, which the simulator adds to the wallet. */
const debit = { type: 'debit', amount: '2.40', reason: 'order' } as const;

describe('a comparison of the books', () => {
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
      const orphan = { kind: 'orphan_movement', direction: 'debit', money: { amount: '2.40', currency: 'USD' } };
      expect(report.findings).toMatchObject([orphan]);
      expectBalanced(report);
    }
    expect(await bench.database.run((db) => db.select().from(cases))).toEqual([]);
    const gauges = await shownGauges(bench.database, bench.clock.now + 7_000);
    expect(gauges).toContain('reseller_books_findings{kind="orphan_movement"} 1');
    expect(gauges).toContain('reseller_books_findings{kind="debited_twice"} 0');
    expect(gauges).toContain('reseller_books_age_seconds 7');
    expect(gauges).toContain('reseller_wallet_balance{currency="USD"} 99997.6');
    expect(bench.log.join('')).toContain('orphan_movement');
  });

  it('that has found the credit of a refund completes its cancellation, though a filtered list hides it', async () => {
    bench = await ActivityBench.start();
    const ids = await bench.beginCancellation();
    await bench.activities.sendPurchase(ids);
    await compare();
    const body = JSON.stringify({ data: [], next_cursor: null });
    await bench.admin.onRequest('listWalletTransactions', { kind: 'answer', status: 200, body }, { count: null });
    expect(await bench.activities.completePurchase({ ...ids, applied: [] })).toMatchObject({ kind: 'completed' });
  });

  it('with a credit that has failed compares the balance, and waits for nothing', async () => {
    bench = await ActivityBench.start();
    await buyToTheEnd();
    const { items } = await bench.service.listWalletTransactions({ since: 0 }).then((read) => {
      if (!read.ok) throw new Error('the wallet cannot be read');
      return read.value;
    });
    const failed = { ...items[0], id: 'dead', type: 'credit', status: 'failed', created_at: new Date(0).toISOString() };
    const body = JSON.stringify({ data: [...items, failed], next_cursor: null });
    await bench.admin.onRequest('listWalletTransactions', { kind: 'answer', status: 200, body }, { count: null });
    const report = await compare();
    expect(findingsOf(report)).toEqual([]);
    expect(report.expectedBalance).not.toBeNull();
  });

  it('reports a second debit also while more movements than a run reads have no cause', async () => {
    bench = await ActivityBench.start();
    const { work, serviceId } = await buyToTheEnd();
    // Purchases of others from the same wallet, older than ours.
    await bench.database.run((db) =>
      db.execute(sql`insert into wallet_movements
        (service_id, direction, amount, currency, reason, occurred_at, read_at, order_id)
        select 'foreign ' || n, 'debit', 1, 'USD', 'order', '2020-01-01', '2020-01-01', 'foreign ' || n
        from generate_series(1, 40000) n`),
    );
    await bench.admin.move({ ...debit, order_id: serviceId });
    await compare();
    await bench.pass(GRACE);
    const report = await compare();
    expect(report).toMatchObject({ status: 'incomplete', findingCounts: { debited_twice: 1 } });
    expect(await openCases(work.id)).toMatchObject([{ reason: 'debited_twice' }]);
    await bench.database.run((db) => db.execute(sql`delete from wallet_movements where service_id like 'foreign 3%'`));
    expect(await compare()).toMatchObject({ status: 'complete' });
  });

  it('reports a second debit with one case on its order, and matches the credit that returns it', async () => {
    bench = await ActivityBench.start();
    const { work, serviceId } = await buyToTheEnd();
    await bench.admin.move({ ...debit, order_id: serviceId });
    expect(findingsOf(await compare())).toEqual([]);
    await bench.pass(GRACE);
    const report = await compare();
    expect(report.findings).toMatchObject([{ kind: 'debited_twice', work }]);
    expectBalanced(report);
    // To claim the money, the service has to be told which of its movements it is.
    const isTold = eq(timeline.event, 'books.debited_twice');
    const [entry] = await bench.database.run((db) => db.select().from(timeline).where(isTold));
    expect(entry?.detail).toEqual({ service_transaction_id: report.findings[0]?.movementId });
    // An operator judges it, regardless of the state of the order.
    await bench.database.transaction((tx) => closeCases(tx, work, 'The order went on.', new Date(bench.clock.now)));
    expect(await openCases(work.id)).toMatchObject([{ reason: 'debited_twice' }]);
    expect(findingsOf(await compare())).toEqual([]);
    const credit = { type: 'credit', amount: '2.40', reason: 'refund', order_id: serviceId } as const;
    await bench.admin.move(credit);
    const credited = await compare();
    expect(findingsOf(credited)).toEqual([]);
    expectBalanced(credited);
    expect((await booked()).filter((row) => row.includes('refund'))).toEqual([]);
    await bench.admin.move(credit);
    expectBalanced(await compare());
    expect(await booked()).toContain(`credit 2.40 refund ${work.id}`);
  });

  it('reports a booked movement that the service does not show, and opens one case', async () => {
    bench = await ActivityBench.start();
    const ids = await bench.begin();
    const cause = { causeKind: 'attempt', causeId: ids.attemptId } as const;
    const row = { direction: 'debit', amount: '2.40', currency: 'USD', ...cause } as const;
    await bench.database.run((db) => db.insert(journal).values(row));
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
    expect(report.status).toBe('unsupported');
    expect(report.detail).toContain('shows no wallet transactions');
    expect([findingsOf(report), bench.crossings]).toEqual([[], ['low']]);
    expect(await bench.admin.requests('listWalletTransactions')).toEqual([]);
  });

  it('is incomplete when the wallet has more movements than its page limit, and continues there', async () => {
    bench = await ActivityBench.start({ books: { pages: 1 } });
    for (let count = 0; count < 120; count += 1) await bench.admin.deposit('1.00');
    const report = await compare();
    expect(report).toMatchObject({ status: 'incomplete', expectedBalance: null, counts: { read: 100 } });
    expect(report.detail).toContain('more than the 100 movements');
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
    const cause = { causeKind: 'adjustment', causeId: 'a slip of ours' } as const;
    const row = { direction: 'credit', amount: '5.00', currency: 'USD', ...cause } as const;
    await bench.database.run((db) => db.insert(journal).values(row));
    const report = await compare();
    expect(report.findings).toMatchObject([{ kind: 'balance_differs', money: { amount: '-5.00', currency: 'USD' } }]);
  });
});
