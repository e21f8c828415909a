import { addAuditEntry } from '#db/access/audit-log.ts';
import type { Executor } from '#db/connection/database.ts';
import { bookAsAdjustment } from '#db/money/journal-queries.ts';

/**
 * Books a wallet movement without a cause as an adjustment, with an entry in the audit log. A movement that has a cause
 * is not changed.
 *
 * @param movementId number of the row; the API shows it as `mov_<number>`.
 * @returns the movement as it is stored now; undefined when there is none.
 */
export async function explainMovement(
  tx: Executor,
  movementId: bigint,
  { actor, reason }: { readonly actor: string; readonly reason: string },
  now: Date,
) {
  const booked = await bookAsAdjustment(tx, movementId);
  if (booked?.isNew === true) {
    const subject = { kind: 'wallet_movement', id: `mov_${movementId}` } as const;
    await addAuditEntry(tx, { actor, action: 'wallet_movement.explain', subject, reason }, now);
  }
  return booked?.movement;
}
