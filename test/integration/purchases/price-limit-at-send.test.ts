import { eq } from 'drizzle-orm';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { cases, orders } from '#db/schema.ts';
import { ActivityBench } from '#test/support/work/activities/activity-bench.ts';

/** A send that its price forbids, with the death of the worker at any point. */
let bench: ActivityBench;
beforeEach(async () => {
  bench = await ActivityBench.start();
  return () => bench[Symbol.asyncDispose]();
});

const setLimit = (orderId: string, amount: string | null) => {
  const limit = { maxPriceAmount: amount, maxPriceCurrency: amount === null ? null : 'USD' };
  return bench.database.run((db) => db.update(orders).set(limit).where(eq(orders.id, orderId)));
};

describe('a send with a price limit', () => {
  it.each([
    ['is never recorded as sending above it, so that a dead worker leaves no unknown outcome', '0.10', false],
    ['is recorded as sending within it', '9.00', true],
  ])('%s', async (_what, limit, sends) => {
    const ref = await bench.begin(1001);
    await setLimit(ref.work.id, limit);
    // What other processes see after each transaction.
    const transaction = bench.database.transaction.bind(bench.database);
    const seen: string[] = [];
    vi.spyOn(bench.database, 'transaction').mockImplementation(async (work) => {
      const result = await transaction(work);
      seen.push((await bench.attempt(ref)).state);
      return result;
    });
    await bench.activities.sendPurchase(ref);
    expect(seen.includes('sending')).toBe(sends);
    const refused = { state: 'refused', failureClass: 'price_above_limit', anyUnknown: false, leaseToken: null };
    expect(await bench.attempt(ref)).toMatchObject(sends ? { state: 'completed' } : refused);
  });

  it('is not made when the limit was set after the price check', async () => {
    const ref = await bench.begin(1001);
    const transaction = bench.database.transaction.bind(bench.database);
    vi.spyOn(bench.database, 'transaction').mockImplementationOnce(async (work) => {
      await setLimit(ref.work.id, '0.10');
      return transaction(work);
    });
    expect(await bench.activities.sendPurchase(ref)).toMatchObject({
      outcome: { kind: 'failure', failure: 'not_sent' },
      detail: expect.stringContaining('limit was set'),
    });
    const { outcome } = await bench.activities.sendPurchase(ref);
    expect(outcome).toMatchObject({ kind: 'failure', failure: 'price_above_limit' });
    expect(await bench.admin.requests('createOrder')).toEqual([]);
  });
});

describe('the charge of the service', () => {
  const chargedUnder = async (allowed: string | null, changedTo: string | null) => {
    const ref = await bench.begin(1001);
    await setLimit(ref.work.id, allowed);
    await bench.admin.nextPurchases({ package_id: 1001, outcome: 'processing_then_completed' });
    await bench.activities.sendPurchase(ref);
    await setLimit(ref.work.id, changedTo);
    await bench.admin.completeOrder((await bench.attempt(ref)).serviceId!);
    await bench.activities.lookUpPurchase(ref);
    expect(await bench.activities.completePurchase({ ...ref, applied: [] })).toMatchObject({ kind: 'completed' });
    const rows = await bench.database.run((db) => db.select().from(cases).where(eq(cases.subjectId, ref.work.id)));
    return rows.map(({ reason }) => reason);
  };

  it('is compared with the limit at the time of the send, not with a limit lowered later', async () => {
    expect(await chargedUnder('5.00', '0.10')).toEqual([]);
    expect(await chargedUnder(null, '0.10')).toEqual([]);
  });

  it('above the limit at the time of the send is reported, although the limit was raised later', async () => {
    await bench.admin.onRequest('createOrder', { kind: 'latency', ms: 2_500, at: 'work' });
    const dearer = async () => {
      await expect.poll(async () => (await bench.admin.requests('createOrder')).length).toBe(1);
      await bench.admin.setPackage(1001, { price_for_reseller: '4.00' });
    };
    const [reasons] = await Promise.all([chargedUnder('2.50', '9.00'), dearer()]);
    expect(reasons).toEqual(['charged_above_limit']);
  });
});
