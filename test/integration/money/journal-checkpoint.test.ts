import { and, eq, inArray, sql } from 'drizzle-orm';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Executor } from '#db/connection/database.ts';
import { advanceCheckpoint, forgetMatched, journalSums, outstandingEntries, bookEntries } from '#db/money/journal.ts';
import { journal, journalCheckpoint, journalOutstanding, walletMovements } from '#db/schema.ts';
import { CAUSE_KINDS, DIRECTIONS, type Entry } from '#domain/money/books.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { openTestDatabase } from '#test/support/servers/database.ts';

const { database } = disposedAtEnd(await openTestDatabase());

const step = fc.oneof(
  fc.record({
    kind: fc.constant('book' as const),
    direction: fc.constantFrom(...DIRECTIONS),
    amount: fc.constantFrom('0', '0.000001', '2.40', '999.999999'),
    currency: fc.constantFrom('EUR', 'USD'),
    cause: fc.record({ kind: fc.constantFrom(...CAUSE_KINDS), id: fc.nat({ max: 9 }).map(String) }),
  }),
  /** The wallet shows the movement of one of the rows. */
  fc.record({ kind: fc.constant('show' as const), place: fc.nat({ max: 9 }) }),
  fc.record({ kind: fc.constant('advance' as const), marginMs: fc.constantFrom(0, 0, 1_000, 3_600_000) }),
  fc.record({ kind: fc.constant('forget' as const) }),
);
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

async function show(db: Executor, place: number): Promise<void> {
  const rows = await db.select().from(journal).orderBy(journal.id);
  const row = rows[place % Math.max(1, rows.length)];
  if (row === undefined) return;
  const { direction, amount, currency, causeKind, causeId, recordedAt } = row;
  const shown = { direction, amount, currency, causeKind, causeId, occurredAt: recordedAt, readAt: recordedAt };
  const movement = { serviceId: `mov ${row.id}`, reason: 'order', ...shown };
  await db.insert(walletMovements).values(movement).onConflictDoNothing();
}

async function apply(one: Step): Promise<void> {
  await database.transaction(async (tx) => {
    if (one.kind === 'book') {
      const { direction, amount, currency, cause } = one;
      await bookEntries(tx, [{ direction, money: { amount, currency }, cause } satisfies Entry]);
    }
    if (one.kind === 'show') await show(tx, one.place);
    if (one.kind === 'advance') await advanceCheckpoint(tx, one.marginMs);
    if (one.kind === 'forget') await forgetMatched(tx);
  });
}

/** The same from the whole journal, read row by row. */
async function readWhole(db: Executor) {
  const rows = await db.select().from(journal).orderBy(journal.id);
  const shown = await db.select().from(walletMovements);
  const sums = new Map<string, bigint>();
  for (const { currency, direction, amount } of rows) {
    const micros = BigInt(Math.round(Number(amount) * 1e6));
    if (micros > 0n) sums.set(`${currency} ${direction}`, (sums.get(`${currency} ${direction}`) ?? 0n) + micros);
  }
  const outstanding = rows.filter(
    ({ causeKind, causeId, direction }) =>
      ['attempt', 'subscription_period', 'refund'].includes(causeKind) &&
      !shown.some((each) => each.causeKind === causeKind && each.causeId === causeId && each.direction === direction),
  );
  return { sums, outstanding: outstanding.map(({ causeKind, causeId, direction }) => [causeKind, causeId, direction]) };
}

async function readByCheckpoint(db: Executor) {
  const sums = (await journalSums(db)).map(
    ({ currency, direction, sum }) => [`${currency} ${direction}`, BigInt(Math.round(Number(sum) * 1e6))] as const,
  );
  const entries = await outstandingEntries(db);
  const outstanding = entries.map(({ cause, direction }) => [cause.kind, cause.id, direction]);
  return { sums: new Map(sums), outstanding };
}

async function clear(): Promise<void> {
  await database.transaction(async (tx) => {
    // The trigger that keeps the journal append-only refuses this, too.
    await tx.execute(sql`set local session_replication_role = replica`);
    await tx.execute(sql`truncate ${journal}, ${walletMovements}, ${journalCheckpoint}, ${journalOutstanding}`);
  });
}

const entry = (id: string): Entry => ({
  direction: 'debit',
  money: { amount: '1.00', currency: 'USD' },
  cause: { kind: 'attempt', id },
});

describe('the checkpoint of the journal', () => {
  it('gives the sums and outstanding rows of the whole journal after any rows, movements and comparisons', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
        await clear();
        for (const one of steps) {
          await apply(one);
          expect(await database.run(readByCheckpoint)).toEqual(await database.run(readWhole));
        }
      }),
      { numRuns: 40 },
    );
  });

  it('stays behind the clock, so that it does not miss a row whose transaction is slow', async () => {
    await clear();
    await database.transaction(async (slow) => {
      await bookEntries(slow, [entry('slow')]);
      await database.transaction(async (other) => {
        await bookEntries(other, [entry('quick')]);
        await advanceCheckpoint(other);
      });
    });
    await database.transaction((tx) => advanceCheckpoint(tx));
    const outstanding = await database.run(outstandingEntries);
    expect(outstanding.map(({ cause }) => cause.id).toSorted()).toEqual(['quick', 'slow']);
    expect(await database.run(journalSums)).toEqual([{ currency: 'USD', direction: 'debit', sum: '2' }]);
  });

  it('keeps of the rows before it only those without a movement', async () => {
    await clear();
    const ids = ['1', '2', '3'];
    await database.run((db) => bookEntries(db, ids.map(entry)));
    await database.transaction((tx) => advanceCheckpoint(tx, 0));
    await database.transaction((tx) => advanceCheckpoint(tx, 0));
    await database.run((db) => show(db, 0));
    await database.transaction(forgetMatched);
    const isOne = and(eq(journal.id, journalOutstanding.journalId), inArray(journal.causeId, ids));
    const stored = await database.run((db) =>
      db.select({ id: journal.causeId }).from(journalOutstanding).innerJoin(journal, isOne),
    );
    expect(stored.map(({ id }) => id).toSorted()).toEqual(['2', '3']);
  });
});
