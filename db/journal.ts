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
