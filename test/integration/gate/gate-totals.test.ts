import { eq, inArray, sql } from 'drizzle-orm';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Executor } from '#db/connection/database.ts';
import { newId } from '#db/connection/ids.ts';
import { attempts, gateReservations, gateWallet } from '#db/schema.ts';
import { ATTEMPT_STATES } from '#domain/relay/observation.ts';
import { readAccount, lockAccount, beginBalanceRead, storeBalance } from '#fulfilment/gate/account.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { openTestDatabase } from '#test/support/servers/database.ts';

const { database } = disposedAtEnd(await openTestDatabase());

const NOW = new Date('2030-01-31T12:00:00Z');
const DAYS = ['2030-01-30', '2030-01-31'] as const;

/** The totals that differ from the sums of their rows. One statement sees one state of all tables. */
async function differences() {
  const costs = sql`sum(gate_cost(a, r)) as amount from gate_reservations r left join attempts a on a.id = r.attempt_id`;
  const { rows } = await database.run((db) =>
    db.execute(sql`
      with summed as (
        select day::text as day, currency, owner as api_key_id, sum(amount) as amount
          from (select r.day, r.currency, r.api_key_id, ${costs} group by r.day, r.currency, r.api_key_id) by_key,
            lateral (values (api_key_id), ('all')) as key(owner)
          group by day, currency, owner
        union all select 'reserved', r.currency, '', ${costs} where not r.is_over group by r.currency
      ), kept as (
        select day::text as day, currency, case api_key_id when '' then 'all' else api_key_id end as api_key_id, amount
          from gate_spending
        union all select 'reserved', currency, '', amount from gate_reserved
      )
      select * from kept full join summed using (day, currency, api_key_id)
      where coalesce(kept.amount, 0) <> coalesce(summed.amount, 0)`),
  );
  return rows;
}

async function openAttempts(tx: Executor, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId('attempt'));
  const opened = { subjectKind: 'order', number: 1, encryptedRequestBody: Buffer.alloc(1) } as const;
  const rows = ids.map((id) => ({ ...opened, id, subjectId: newId('order'), idempotencyKey: id }));
  await tx.insert(attempts).values(rows);
  return ids;
}

async function reserve(tx: Executor, attemptId: string, made: Partial<typeof gateReservations.$inferInsert> = {}) {
  // As a claim does: the attempt, then the account.
  await tx.select({ id: attempts.id }).from(attempts).where(eq(attempts.id, attemptId)).for('update');
  await lockAccount(tx);
  const values = { apiKeyId: 'key_a', day: DAYS[1], amount: '5.00', currency: 'EUR', madeAt: NOW, ...made };
  await tx
    .insert(gateReservations)
    .values({ attemptId, ...values })
    .onConflictDoUpdate({
      target: gateReservations.attemptId,
      set: { ...values, coveredByReading: null, isOver: false },
    });
}

const money = fc.constantFrom('0', '0.000001', '2.40', '5.00', '999.999999');
const currency = fc.constantFrom('EUR', 'USD');
const place = fc.nat({ max: 4 });

/** Every change of a column that a total depends on, whether the product makes it or not. */
const change = fc.oneof(
  fc.record({
    kind: fc.constant('attempt' as const),
    place,
    state: fc.constantFrom(...ATTEMPT_STATES),
    settled: fc.boolean(),
    charge: fc.option(fc.record({ amount: money, currency })),
  }),
  fc.record({
    kind: fc.constant('reserve' as const),
    place,
    apiKeyId: fc.constantFrom('key_a', 'key_b'),
    day: fc.constantFrom(...DAYS),
    amount: money,
    currency,
  }),
  fc.record({ kind: fc.constant('begin' as const), number: fc.constant(0) }),
  fc.record({ kind: fc.constant('store' as const), back: fc.nat({ max: 2 }) }),
  fc.record({ kind: fc.constant('many' as const), isOver: fc.boolean() }),
  fc.record({ kind: fc.constant('delete' as const), place }),
  fc.record({ kind: fc.constant('meddle' as const), place, counted: money }),
);
type Change = typeof change extends fc.Arbitrary<infer One> ? One : never;

async function apply(tx: Executor, ids: string[], one: Change): Promise<void> {
  const idAt = (index: number) => ids[index % ids.length]!;
  const ofAttempt = (index: number) => eq(gateReservations.attemptId, idAt(index));
  switch (one.kind) {
    case 'attempt': {
      const { state, settled, charge } = one;
      const set = { state, settled, chargedAmount: charge?.amount ?? null, chargedCurrency: charge?.currency ?? null };
      const id = idAt(one.place);
      await tx.update(attempts).set(set).where(eq(attempts.id, id));
      return;
    }
    case 'reserve': {
      const { apiKeyId, day, amount, currency: named } = one;
      return reserve(tx, idAt(one.place), { apiKeyId, day, amount, currency: named });
    }
    case 'begin':
      await beginBalanceRead(tx, { debitKnownBefore: NOW });
      return;
    case 'store': {
      const [wallet] = await tx.select({ begun: gateWallet.readsStarted }).from(gateWallet);
      const number = (wallet?.begun ?? 0) - one.back;
      if (number > 0) await storeBalance(tx, number, { amount: '100', currency: 'EUR' }, undefined, NOW);
      return;
    }
    case 'many':
      await lockAccount(tx);
      await tx.update(gateReservations).set({ isOver: one.isOver }).where(inArray(gateReservations.attemptId, ids));
      return;
    case 'delete':
      await lockAccount(tx);
      await tx.delete(gateReservations).where(ofAttempt(one.place));
      return;
    case 'meddle':
      await lockAccount(tx);
      await tx.update(gateReservations).set({ counted: one.counted }).where(ofAttempt(one.place));
  }
}

const ROLLED_BACK = new RangeError('rolled back');

describe('the totals of the gate', () => {
  it('are the sums of their rows after any sequence of changes, in any transactions, also rolled back', async () => {
    const transactions = fc.array(fc.record({ changes: fc.array(change, { maxLength: 5 }), isKept: fc.boolean() }), {
      maxLength: 6,
    });
    await fc.assert(
      fc.asyncProperty(transactions, async (all) => {
        const ids = await database.transaction((tx) => openAttempts(tx, 5));
        for (const { changes, isKept } of all) {
          const done = database.transaction(async (tx) => {
            for (const one of changes) await apply(tx, ids, one);
            if (!isKept) throw ROLLED_BACK;
          });
          await done.catch((error: unknown) => {
            if (error !== ROLLED_BACK) throw error;
          });
        }
        expect(await differences()).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  it('are the sums of their rows after concurrent changes of the same attempts', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(change, { maxLength: 4 }), { minLength: 4, maxLength: 8 }), async (all) => {
        const ids = await database.transaction((tx) => openAttempts(tx, 3));
        await Promise.all(
          all.map(async (changes) => {
            for (const one of changes) await database.transaction((tx) => apply(tx, ids, one));
          }),
        );
        expect(await differences()).toEqual([]);
      }),
      { numRuns: 25 },
    );
  });

  it('count an attempt from its claim to its refusal, and the charge in place of the price', async () => {
    const [id = ''] = await database.transaction((tx) => openAttempts(tx, 1));
    const key = newId('apiKey');
    const spent = async () => {
      const of = { day: DAYS[1], apiKeyId: key, currency: 'EUR' };
      return (await database.run((db) => readAccount(db, of))).spentByKey.amount;
    };
    const set = (values: Partial<typeof attempts.$inferInsert>) =>
      database.transaction((tx) => tx.update(attempts).set(values).where(eq(attempts.id, id)));
    await database.transaction((tx) => reserve(tx, id, { apiKeyId: key }));
    expect(await spent()).toBe('0');
    await set({ state: 'sending' });
    expect(await spent()).toBe('5.000000');
    await set({ state: 'processing', chargedAmount: '4.50', chargedCurrency: 'EUR' });
    expect(await spent()).toBe('4.500000');
    await set({ state: 'failed' });
    expect(await spent()).toBe('4.500000');
    await set({ settled: true });
    expect(await spent()).toBe('0.000000');
  });
});
