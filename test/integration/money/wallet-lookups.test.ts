/** What is looked up in the wallet and in the purchases, while both have a long history. */
import { sql } from 'drizzle-orm';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Executor } from '#db/connection/database.ts';
import { countReadSince, purchasesNamedBy } from '#db/money/wallet-movements.ts';
import { firstDebitOf, movementsOf } from '#db/money/wallet-readings.ts';
import { findAttemptById, newestDelivered } from '#db/work/attempts.ts';
import type { Purchase } from '#domain/money/books.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { openTestDatabase } from '#test/support/servers/database.ts';
import { rowsRead } from '#test/support/servers/rows-read.ts';
import { debit, NAMELESS, order, subscription, topup } from '#test/support/work/books/reconciliation.ts';

/** Purchases, of each three an order, a top-up and a subscription; each has one attempt and one movement. */
const HISTORY = 30_000;
/** A lookup may read a row more than once. */
const FEW = 20;
/** Each movement was read one second after the one before. */
const BEGIN = new Date('2026-01-01T00:00:00Z');

const { database } = disposedAtEnd(await openTestDatabase());

/** What `look` finds, and the number of rows that PostgreSQL reads for it. */
async function measured<Found>(
  look: (tx: Executor) => Promise<Found>,
): Promise<[found: Found | undefined, rows: number]> {
  let found: Found | undefined;
  const rows = await rowsRead(database, ['wallet_movements', 'attempts', 'orders'], async (tx) => {
    found = await look(tx);
  });
  return [found, rows];
}

beforeAll(() =>
  database.run(async (db) => {
    const kind = sql.raw(`(array['order', 'topup', 'vpn_subscription'])[1 + n % 3]`);
    const [ofOrder, ofTopup, ofSubscription] = [0, 1, 2].map((rest) => sql.raw(`n % 3 = ${rest}`));
    const numbers = sql.raw(`generate_series(1, ${HISTORY}) as n`);
    await db.execute(sql`
      insert into orders (id, api_key_id, external_order_id, package_id)
      select 'work_' || n, 'key_test', 'ref_' || n, 101 from ${numbers} where ${ofOrder}`);
    await db.execute(sql`
      insert into attempts (id, subject_kind, subject_id, number, idempotency_key, encrypted_request_body, state,
        reference, service_id, service_esim_id, last_report_at)
      select 'att_' || lpad(n::text, 5, '0'), ${kind}, 'work_' || n, 1, 'key_' || n, '', 'completed',
        case when not ${ofTopup} then 'ref_' || n end, 'service_' || n,
        case when not ${ofSubscription} then 'esim_' || n end, ${BEGIN}::timestamptz - n * interval '1 second'
      from ${numbers}`);
    await db.execute(sql`
      insert into wallet_movements (service_id, direction, amount, currency, reason, occurred_at, read_at,
        order_id, order_reference, topup_id, subscription_id, subscription_reference, esim_id)
      select 'movement_' || n, 'debit', 1, 'USD', ${kind}, ${BEGIN}::timestamptz,
        ${BEGIN}::timestamptz + n * interval '1 second',
        case when ${ofOrder} then 'service_' || n end, case when ${ofOrder} then 'ref_' || n end,
        case when ${ofTopup} then 'service_' || n end,
        case when ${ofSubscription} then 'service_' || n end, case when ${ofSubscription} then 'ref_' || n end,
        case when not ${ofSubscription} then 'esim_' || n end
      from ${numbers}`);
    // An order whose debit names only its eSIM.
    await db.execute(sql`
      update wallet_movements set order_id = null, order_reference = null where service_id = 'movement_9000'`);
    await db.execute(sql`analyze orders, attempts, wallet_movements`);
  }),
);

describe('in a long history', () => {
  it.each([
    ['order', 15_000],
    ['topup', 15_001],
    ['vpn_subscription', 15_002],
  ])('the movements of one purchase are found without those of others: %s', async (kind, n) => {
    const attempt = await database.run((db) => findAttemptById(db, `att_${n}`));
    expect(attempt.subjectKind).toBe(kind);
    const [movements, rows] = await measured((tx) => movementsOf(tx, attempt));
    expect(movements?.map(({ id }) => id)).toEqual([`movement_${n}`]);
    expect(rows).toBeLessThan(FEW);
  });

  const named = (purchase: Purchase, n: number): Purchase => ({
    ...purchase,
    serviceId: `service_${n}`,
    reference: purchase.reference === null ? null : `ref_${n}`,
    serviceEsimId: purchase.serviceEsimId === null ? null : `esim_${n}`,
  });
  it.each([
    ['an order', named(order, 15_000), 'movement_15000'],
    ['an order, also by its eSIM alone', named(order, 9_000), 'movement_9000'],
    ['a top-up', named(topup, 15_001), 'movement_15001'],
    ['a subscription', named(subscription, 15_002), 'movement_15002'],
  ])('the first debit of %s is found without those of others', async (_name, purchase, id) => {
    const [first, rows] = await measured((tx) => firstDebitOf(tx, purchase));
    expect(first).toBe(id);
    expect(rows).toBeLessThan(FEW);
  });

  it('the movements read since the last comparison are counted without the earlier ones', async () => {
    const [count, rows] = await measured((tx) => countReadSince(tx, new Date(BEGIN.getTime() + (HISTORY - 5) * 1_000)));
    expect(count).toBe(5);
    expect(rows).toBeLessThan(FEW);
  });

  it('the order that a movement names by its eSIM is found without the others', async () => {
    const movement = debit(1, 'wt_1', { names: { ...NAMELESS, esimId: 'esim_15000' } });
    const [purchases, rows] = await measured((tx) => purchasesNamedBy(tx, [movement]));
    expect(purchases?.map(({ attemptId }) => attemptId)).toEqual(['att_15000']);
    expect(rows).toBeLessThan(FEW);
  });

  it('the newest delivered purchase is found by the time of its attempt, without the older ones', async () => {
    const [newest, rows] = await measured((tx) => newestDelivered(tx, 'order', `att_${HISTORY}`));
    expect(newest?.id).toBe(`att_${HISTORY - 3}`);
    expect(rows).toBeLessThan(FEW);
  });
});
