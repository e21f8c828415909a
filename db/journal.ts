import { and, eq } from 'drizzle-orm';
import type { Money } from '#domain/money.ts';
import { journal } from '#db/schema.ts';
import type { Executor } from '#db/database.ts';

/**
 * Writes a movement of the service's wallet into our books. The books are append-only and hold one debit and one
 * credit per cause at most, so the same movement seen twice is written once.
 *
 * @returns true when it is new.
 */
export async function recordMovement(
  db: Executor,
  movement: { direction: 'debit' | 'credit'; attemptId: string; money: Money },
): Promise<boolean> {
  const rows = await db
    .insert(journal)
    .values({
      direction: movement.direction,
      amount: movement.money.amount,
      currency: movement.money.currency,
      causeKind: 'attempt',
      causeId: movement.attemptId,
    })
    .onConflictDoNothing()
    .returning({ id: journal.id });
  return rows.length > 0;
}

/** Writes the credit of a refund into our books, once for each cancellation. @returns true when it is new. */
export async function recordRefund(db: Executor, cancellationId: string, { amount, currency }: Money): Promise<boolean> {
  const rows = await db
    .insert(journal)
    .values({ direction: 'credit', amount, currency, causeKind: 'refund', causeId: cancellationId })
    .onConflictDoNothing()
    .returning({ id: journal.id });
  return rows.length > 0;
}

/** What our books hold for an attempt. */
export async function bookedMovements(db: Executor, attemptId: string): Promise<{ debit: boolean; credit: boolean }> {
  const rows = await db
    .select({ direction: journal.direction })
    .from(journal)
    .where(and(eq(journal.causeKind, 'attempt'), eq(journal.causeId, attemptId)));
  const has = (direction: 'debit' | 'credit') => rows.some((row) => row.direction === direction);
  return { debit: has('debit'), credit: has('credit') };
}
