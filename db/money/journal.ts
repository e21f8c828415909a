import { and, asc, eq, gt, inArray, notExists, sql } from 'drizzle-orm';
import { inBatches } from '#db/connection/batches.ts';
import type { Executor } from '#db/connection/database.ts';
import { attempts, journal, walletMovements } from '#db/schema.ts';
import type { Cause, CauseKind, Direction, Entry, JournalSum } from '#domain/money/books.ts';
import type { Outstanding } from '#domain/money/findings.ts';
import { type Money, plainAmount } from '#domain/money/money.ts';

/** A movement that is seen twice is written once. @returns the number of new rows. */
export async function bookEntries(db: Executor, entries: readonly Entry[]): Promise<number> {
  let booked = 0;
  for (const some of inBatches(entries)) {
    const rows = await db
      .insert(journal)
      .values(
        some.map(({ direction, money, cause }) => ({
          direction,
          amount: money.amount,
          currency: money.currency,
          causeKind: cause.kind,
          causeId: cause.id,
        })),
      )
      .onConflictDoNothing()
      .returning({ id: journal.id });
    booked += rows.length;
  }
  return booked;
}

export async function recordMovement(
  db: Executor,
  { direction, attemptId: id, money }: { direction: Direction; attemptId: string; money: Money },
): Promise<boolean> {
  return (await bookEntries(db, [{ direction, money, cause: { kind: 'attempt', id } }])) > 0;
}

export async function recordRefund(db: Executor, orderId: string, money: Money): Promise<boolean> {
  return (await bookEntries(db, [{ direction: 'credit', money, cause: { kind: 'refund', id: orderId } }])) > 0;
}

export async function bookedMovements(db: Executor, attemptId: string): Promise<{ debit: boolean; credit: boolean }> {
  const rows = await db
    .select({ direction: journal.direction })
    .from(journal)
    .where(and(eq(journal.causeKind, 'attempt'), eq(journal.causeId, attemptId)));
  const has = (direction: Direction) => rows.some((row) => row.direction === direction);
  return { debit: has('debit'), credit: has('credit') };
}

export async function isBooked(db: Executor, { kind, id }: Cause): Promise<boolean> {
  return (await db.$count(journal, and(eq(journal.causeKind, kind), eq(journal.causeId, id)))) > 0;
}

/** Other rows, such as adjustments, are written for a movement. */
const EXPECT_MOVEMENTS: CauseKind[] = ['attempt', 'subscription_period', 'refund'];

export async function journalSums(db: Executor): Promise<JournalSum[]> {
  return db
    .select({ currency: journal.currency, direction: journal.direction, sum: sql<string>`sum(${journal.amount})` })
    .from(journal)
    .where(gt(journal.amount, '0'))
    .groupBy(journal.currency, journal.direction);
}

/** Leaves out rows that have no movement by nature. */
export async function outstandingEntries(db: Executor): Promise<Outstanding[]> {
  const movements = db
    .select({ id: walletMovements.id })
    .from(walletMovements)
    .where(
      and(
        eq(walletMovements.causeKind, journal.causeKind),
        eq(walletMovements.causeId, journal.causeId),
        eq(walletMovements.direction, journal.direction),
      ),
    );
  const rows = await db
    .select({ entry: journal, kind: attempts.subjectKind, id: attempts.subjectId, attemptId: attempts.id })
    .from(journal)
    .leftJoin(attempts, and(eq(journal.causeKind, 'attempt'), eq(attempts.id, journal.causeId)))
    .where(and(inArray(journal.causeKind, EXPECT_MOVEMENTS), notExists(movements)))
    .orderBy(asc(journal.id));
  return rows.map(({ entry, kind, id, attemptId }) => ({
    direction: entry.direction,
    money: { amount: plainAmount(entry.amount), currency: entry.currency },
    cause: { kind: entry.causeKind, id: entry.causeId },
    recordedAt: entry.recordedAt.getTime(),
    work: kind === null || id === null ? undefined : { kind, id },
    attemptId: attemptId ?? undefined,
  }));
}
