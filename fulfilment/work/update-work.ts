import { eq } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { leaveGate } from '#db/gate/waits.ts';
import { closeCases } from '#db/work/cases.ts';
import { workTable, type WorkRow } from '#db/work/kinds.ts';
import type { RetryRule } from '#domain/retry/retry-rules.ts';
import { KINDS, type WorkRef } from '#domain/work/kinds.ts';
import { announceWork } from '#fulfilment/work/work-events.ts';

/** A change of shared columns; a change of status includes its time. */
export type WorkChange =
  | (Partial<WorkRow> & { status?: never })
  | (Partial<WorkRow> & Pick<WorkRow, 'status' | 'updatedAt'>);

/** Changes shared columns and announces a new status. The caller holds the lock of the work. */
export async function updateWork(tx: Executor, work: WorkRef, change: WorkChange): Promise<void> {
  const table = workTable(work.kind);
  await tx.update(table).set(change).where(eq(table.id, work.id));
  if (change.status === undefined) return;
  await announceWork(tx, work, change.updatedAt);
  // Work that is neither held nor about to be sent waits at no barrier.
  if (change.status !== 'held' && change.status !== 'submitting') await leaveGate(tx, work);
}

/**
 * Marks a purchase as under way, which ends its hold or case. The caller holds the lock of the work.
 * @param retryRule the retry rule of a failure; undefined: unchanged.
 */
export async function markInProgress(
  tx: Executor,
  work: WorkRef,
  status: 'submitting' | 'processing',
  now: Date,
  retryRule?: RetryRule,
): Promise<void> {
  const nothingInTheWay = { failureClass: null, failureDetail: null, attentionReason: null, nextStepAt: null };
  await updateWork(tx, work, {
    status,
    ...nothingInTheWay,
    ...(retryRule !== undefined && { retryRule }),
    updatedAt: now,
  });
  await closeCases(tx, work, `The ${KINDS[work.kind].noun} continued.`, now);
}
