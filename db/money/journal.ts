import { and, eq } from 'drizzle-orm';
import type { Write } from '#db/connection/alongside.ts';
import type { Executor } from '#db/connection/database.ts';
import { journal } from '#db/schema.ts';
import type { Cause, Direction, Entry } from '#domain/money/books.ts';
import type { Money } from '#domain/money/money.ts';

/** Rows of one statement; the number of its parameters is limited. */
const ROWS_AT_ONCE = 1_000;

/**
 * Adds journal rows. The journal is append-only with one debit and one credit for each cause at most, so a movement
 * that is seen twice is written once.
 *
 * @returns the number of new rows.
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

/** Books a movement of an attempt, as {@link bookEntries}. @returns true when it is new. */
export async function recordMovement(
  db: Executor,
  { direction, attemptId, money }: { direction: Direction; attemptId: string; money: Money },
): Promise<boolean> {
  const cause: Cause = { kind: 'attempt', id: attemptId };
  return (await bookEntries(db, [{ direction, money, cause }])) > 0;
}

/** Books the debit of an attempt, as part of another statement. */
export function bookingDebit(db: Executor, attemptId: string, { amount, currency }: Money): Write {
  const statement = db
    .insert(journal)
    .values({ direction: 'debit', amount, currency, causeKind: 'attempt', causeId: attemptId })
    .onConflictDoNothing();
  return { statement };
}

/**
 * Books the credit of an order's refund, as {@link bookEntries}.
 * @param orderId our id.
 * @returns true when it is new.
 */
export async function recordRefund(db: Executor, orderId: string, money: Money): Promise<boolean> {
  return (await bookEntries(db, [{ direction: 'credit', money, cause: { kind: 'refund', id: orderId } }])) > 0;
}

/** The journal rows of an attempt. */
export async function bookedMovements(db: Executor, attemptId: string): Promise<{ debit: boolean; credit: boolean }> {
  const rows = await db
    .select({ direction: journal.direction })
    .from(journal)
    .where(and(eq(journal.causeKind, 'attempt'), eq(journal.causeId, attemptId)));
  const has = (direction: Direction) => rows.some((row) => row.direction === direction);
  return { debit: has('debit'), credit: has('credit') };
}

/** True when the journal has a row with this cause. */
export async function isBooked(db: Executor, { kind, id }: Cause): Promise<boolean> {
  const rows = await db
    .select({ id: journal.id })
    .from(journal)
    .where(and(eq(journal.causeKind, kind), eq(journal.causeId, id)))
    .limit(1);
  return rows.length > 0;
}
