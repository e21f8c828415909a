import { and, eq } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { journal } from '#db/schema.ts';
import type { Cause, Direction, Entry } from '#domain/money/books.ts';
import type { Money } from '#domain/money/money.ts';

/** A statement holds this many rows; its parameters are limited. */
const ROWS_AT_ONCE = 1_000;

/**
 * Writes rows into our books. The books are append-only and hold one debit and one credit per cause at most, so the
 * same movement seen twice is written once.
 *
 * @returns how many are new.
 */
export async function bookEntries(db: Executor, entries: readonly Entry[]): Promise<number> {
  let booked = 0;
  for (let start = 0; start < entries.length; start += ROWS_AT_ONCE) {
    const rows = await db
      .insert(journal)
      .values(
        entries.slice(start, start + ROWS_AT_ONCE).map(({ direction, money, cause }) => ({
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

/** Writes a movement of an attempt into our books, as {@link bookEntries}. @returns true when it is new. */
export async function recordMovement(
  db: Executor,
  { direction, attemptId, money }: { direction: Direction; attemptId: string; money: Money },
): Promise<boolean> {
  const cause: Cause = { kind: 'attempt', id: attemptId };
  return (await bookEntries(db, [{ direction, money, cause }])) > 0;
}

/**
 * Writes the credit of an order's refund into our books, as {@link bookEntries}. @param orderId ours. @returns true
 * when it is new.
 */
export async function recordRefund(db: Executor, orderId: string, money: Money): Promise<boolean> {
  return (await bookEntries(db, [{ direction: 'credit', money, cause: { kind: 'refund', id: orderId } }])) > 0;
}

/** What our books hold for an attempt. */
export async function bookedMovements(db: Executor, attemptId: string): Promise<{ debit: boolean; credit: boolean }> {
  const rows = await db
    .select({ direction: journal.direction })
    .from(journal)
    .where(and(eq(journal.causeKind, 'attempt'), eq(journal.causeId, attemptId)));
  const has = (direction: Direction) => rows.some((row) => row.direction === direction);
  return { debit: has('debit'), credit: has('credit') };
}

/** True when our books have a row of this cause. */
export async function isBooked(db: Executor, { kind, id }: Cause): Promise<boolean> {
  const rows = await db
    .select({ id: journal.id })
    .from(journal)
    .where(and(eq(journal.causeKind, kind), eq(journal.causeId, id)))
    .limit(1);
  return rows.length > 0;
}
