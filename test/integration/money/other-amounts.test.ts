/** Amounts that are not the expected ones: a charge, a debit and a credit, with the activities of the worker. */
import { eq } from 'drizzle-orm';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cases, gatePauses, refunds, walletMovements } from '#db/schema.ts';
import { recordReport } from '#fulfilment/attempts/report.ts';
import { ActivityBench } from '#test/support/work/activities/activity-bench.ts';
import { comparisonOf, expectBalanced, findingsOf, GRACE } from '#test/support/work/books/comparison.ts';

const PACKAGE = 1001;

let bench: ActivityBench;
beforeEach(async () => {
  bench = await ActivityBench.start();
});
afterEach(() => bench[Symbol.asyncDispose]());

const { compare, buyToTheEnd, openCases } = comparisonOf(() => bench);

const allCases = async () => {
  const rows = await bench.database.run((db) => db.select().from(cases));
  return rows.map(({ reason, product }) => ({ reason, product }));
};
const pauses = async () => {
  const rows = await bench.database.run((db) => db.select().from(gatePauses));
  return rows.map(({ origin, kind }) => ({ origin, kind }));
};
/** A later order is charged this, after the price list was read for the first one. */
const chargeFrom = async (price: string) => {
  await buyToTheEnd();
  await bench.admin.setPackage(PACKAGE, { price_for_reseller: price });
};

describe('a charge that is not the listed price', () => {
  it.each([
    ['100 times as much', '240'],
    ['a tenth of it', '0.24'],
  ])('%s stops buying of the kind, with one case', async (_name, price) => {
    await chargeFrom(price);
    await buyToTheEnd();
    expect(await pauses()).toEqual([{ origin: 'amounts', kind: 'order' }]);
    expect(await allCases()).toEqual([{ reason: 'amount_differs', product: PACKAGE }]);
    const next = await bench.begin();
    const { outcome } = await bench.activities.sendPurchase(next);
    expect(outcome).toMatchObject({ kind: 'gated', failure: 'purchases_paused' });
    expect(await bench.admin.orders()).toHaveLength(2);
  });

  it('with a fee is one case for the product, not one for each order, and stops nothing', async () => {
    await chargeFrom('2.47');
    for (let order = 0; order < 3; order += 1) await buyToTheEnd();
    expect(await allCases()).toEqual([{ reason: 'amount_differs', product: PACKAGE }]);
    // A person has judged it: the same difference is no further case, another one is.
    await bench.database.run((db) => db.update(cases).set({ closedAt: new Date(bench.clock.now) }));
    await buyToTheEnd();
    expect(await allCases()).toHaveLength(1);
    await bench.admin.setPackage(PACKAGE, { price_for_reseller: '2.50' });
    await buyToTheEnd();
    expect(await allCases()).toHaveLength(2);
    expect(await pauses()).toEqual([]);
  });

  it('is no case when the price was raised after it was read, and the catalogue has the new price', async () => {
    await chargeFrom('2.47');
    await bench.activities.readCatalogue({ runId: 'raised' });
    await buyToTheEnd();
    expect(await allCases()).toEqual([]);
  });
});

describe('a debit that is not the charge', () => {
  it('in cents stops buying of the kind, with one case for two orders', async () => {
    await bench.admin.dialect('replays', { wallet_amounts: 'cents' });
    await buyToTheEnd();
    await buyToTheEnd();
    expect(findingsOf(await compare())).toEqual(['amount_differs', 'amount_differs']);
    expect(await pauses()).toEqual([{ origin: 'amounts', kind: 'order' }]);
    expect(await allCases()).toEqual([{ reason: 'amount_differs', product: PACKAGE }]);
  });
});

describe('the refund of a cancellation', () => {
  const cancel = async (refund: { refund_amount?: string; refund_currency?: string } = {}) => {
    const ids = await bench.beginCancellation();
    await bench.admin.nextPurchases({ operation: 'cancellation', outcome: 'accepted', ...refund });
    await bench.activities.sendPurchase(ids);
    return { ...ids, complete: () => bench.activities.completePurchase({ ...ids, applied: [] }) };
  };
  const refundOf = async (id: string) => {
    const [row] = await bench.database.run((db) => db.select().from(refunds).where(eq(refunds.cancellationId, id)));
    return row?.status;
  };
  const reasonsOf = async (id: string) => (await openCases(id)).map(({ reason }) => reason);

  it.each([
    ['of zero', { refund_amount: '0.00' }],
    ['in another currency', { refund_currency: 'EUR' }],
  ])('%s settles nothing, by its own search and by the books', async (_name, refund) => {
    const { work, complete } = await cancel(refund);
    expect(await complete()).toMatchObject({ kind: 'needs_attention', reason: 'refund_missing' });
    await compare();
    expect(await refundOf(work.id)).not.toBe('completed');
    expect(await reasonsOf(work.id)).toEqual(['amount_differs']);
  });

  it('of less than the debit completes as the service reported it, with one case', async () => {
    const { work, complete } = await cancel({ refund_amount: '1.00' });
    expect(await complete()).toMatchObject({ kind: 'completed' });
    expectBalanced(await compare());
    expect(await reasonsOf(work.id)).toEqual(['amount_differs']);
  });

  it('by the books alone opens the same case', async () => {
    const { work } = await cancel({ refund_amount: '1.00' });
    await compare();
    expect(await refundOf(work.id)).toBe('completed');
    expect(await reasonsOf(work.id)).toEqual(['amount_differs']);
  });

  it('that the service reports with two amounts completes by the wallet, with the case of a contradiction', async () => {
    const { work, attemptId, complete } = await cancel();
    for (const amount of ['1.00', '2.40']) {
      const refund = { state: 'processing', review: 'accepted' } as const;
      const cancellation = { refund, refunded: { amount, currency: 'USD' } };
      const report = { outcome: 'processing', cancellation } as const;
      await bench.database.transaction((tx) => recordReport(tx, attemptId, report, new Date(bench.clock.now)));
    }
    expect(await complete()).toMatchObject({ kind: 'completed' });
    expect(await reasonsOf(work.id)).toEqual(['contradiction']);
  });

  it('is not complete while its credit is pending, and is once it is final', async () => {
    await bench.admin.dialect('replays', { credits_pending_for_ms: 6 * 3_600_000 });
    const { work, complete } = await cancel();
    const pending = { kind: 'not_yet', detail: 'The credit of the refund is pending in the wallet.' };
    expect(await complete()).toMatchObject(pending);
    const before = await compare();
    expect(before).toMatchObject({ status: 'complete', expectedBalance: null, findings: [] });
    expect(await refundOf(work.id)).not.toBe('completed');
    const credits = () =>
      bench.database.run((db) => db.select().from(walletMovements).where(eq(walletMovements.reason, 'refund')));
    expect(await credits()).toEqual([]);
    // Later than the overlap of two comparisons: the pending credit is read again all the same.
    await bench.pass(5 * 3_600_000);
    await compare();
    await bench.pass(2 * 3_600_000);
    expectBalanced(await compare());
    expect(await credits()).toHaveLength(1);
    expect(await refundOf(work.id)).toBe('completed');
    expect(await complete()).toMatchObject({ kind: 'completed' });
    expect(await reasonsOf(work.id)).toEqual([]);
  });
});

describe('the credit of a failed attempt', () => {
  it('that is less than its debit is a case', async () => {
    await bench.admin.nextPurchases({ outcome: 'failed_at_once', credit_after_ms: null });
    const ids = await bench.begin();
    await bench.activities.sendPurchase(ids);
    const { serviceId } = await bench.attempt(ids);
    await compare();
    await bench.admin.move({ type: 'credit', amount: '1.00', reason: 'refund', order_id: serviceId! });
    await bench.pass(GRACE);
    const report = await compare();
    expect(report.findings).toMatchObject([{ kind: 'amount_differs', work: ids.work, direction: 'credit' }]);
    expect((await openCases(ids.work.id)).map(({ reason }) => reason)).toEqual(['amount_differs']);
  });
});
