import { eq } from 'drizzle-orm';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { attempts, orders } from '#db/schema.ts';
import { ActivityBench } from '#test/support/order-activities.ts';

/** What a look at the price list says against a send, when the worker dies at any moment of it. */
let bench: ActivityBench;
beforeEach(async () => {
  bench = await ActivityBench.start();
});
afterEach(() => bench[Symbol.asyncDispose]());

describe('a send that is not made because of its price', () => {
  it('is never seen as under way: whoever dies there leaves nothing unknown behind', async () => {
    const ref = await bench.begin(1001);
    await bench.database.run((db) => db.update(orders).set({ maxPriceAmount: '0.10', maxPriceCurrency: 'USD' }).where(eq(orders.id, ref.work.id)));
    const attempt = async () => {
      const [row] = await bench.database.run((db) => db.select().from(attempts).where(eq(attempts.id, ref.attemptId)));
      return row;
    };
    // As soon as others can see that a send is under way, the process dies.
    const transaction = bench.database.transaction.bind(bench.database);
    let died = false;
    vi.spyOn(bench.database, 'transaction').mockImplementation(async (work) => {
      if (died) throw new Error('the process is gone');
      const result = await transaction(work);
      died = (await attempt())?.state === 'sending';
      return result;
    });
    expect(await bench.activities.sendPurchase(ref)).toMatchObject({ outcome: { kind: 'failure', failure: 'price_above_limit' } });
    expect(await attempt()).toMatchObject({ state: 'refused', anyUnknown: false, leaseToken: null });
    expect(died).toBe(false);
  });

  it('sees one that is made as under way', async () => {
    const ref = await bench.begin(1001);
    const seen: string[] = [];
    const transaction = bench.database.transaction.bind(bench.database);
    vi.spyOn(bench.database, 'transaction').mockImplementation(async (work) => {
      const result = await transaction(work);
      const [row] = await bench.database.run((db) => db.select({ state: attempts.state }).from(attempts).where(eq(attempts.id, ref.attemptId)));
      seen.push(row!.state);
      return result;
    });
    await bench.activities.sendPurchase(ref);
    expect(seen).toContain('sending');
  });
});
