import { eq, sql } from 'drizzle-orm';
import { noteFact } from '#db/connection/after-commit.ts';
import type { Executor } from '#db/connection/database.ts';
import { recordEvent } from '#db/events/event-log.ts';
import { leaveGate } from '#db/gate/waits.ts';
import { orderBatches } from '#db/schema.ts';
import { closeCases } from '#db/work/cases.ts';
import { workTable, type WorkRow, wholeRow } from '#db/work/rows.ts';
import type { RetryRule } from '#domain/retry/retry-rules.ts';
import { BATCH_ENDS, type BatchEnd } from '#domain/work/identifiers.ts';
import { KINDS, type WorkRef } from '#domain/work/kinds.ts';
import type { WorkStatus } from '#domain/work/lifecycle.ts';
import { announceStatus } from '#fulfilment/work/events.ts';

/** A change of status includes its time. */
type WorkChange = (Partial<WorkRow> & { status?: never }) | (Partial<WorkRow> & Pick<WorkRow, 'status' | 'updatedAt'>);

/** `row` is locked in this transaction and has all columns of its kind. */
export async function updateWork(tx: Executor, work: WorkRef, row: WorkRow, change: WorkChange): Promise<void> {
  const table = workTable(work.kind);
  await tx.update(table).set(change).where(eq(table.id, work.id));
  const { status } = change;
  if (status === undefined) return;
  await announceStatus(tx, work, { ...row, ...change }, change.updatedAt);
  // Work that is neither held nor about to be sent waits at no barrier.
  if (status !== 'held' && status !== 'submitting') await leaveGate(tx, work);
  await countEnded(tx, work, row, status, change.updatedAt);
  noteStatus(tx, work, row, { ...row, ...change });
}

/** Work that is held again for the same reason was held all the time. */
function noteStatus(tx: Executor, { kind, id }: WorkRef, before: WorkRow, after: WorkRow): void {
  const { status, failureClass, attentionReason, requestId, traceparent, createdAt: acceptedAt } = after;
  const isSame = before.status === status && before.failureClass === failureClass;
  if (isSame && before.attentionReason === attentionReason) return;
  noteFact(tx, {
    fact: 'status',
    kind,
    id,
    requestId,
    traceparent,
    status,
    previous: before.status,
    failureClass,
    attentionReason,
    acceptedAt,
    isCompletion: before.completedAt === null && after.completedAt !== null,
  });
}

const NOTHING_IN_THE_WAY = { failureClass: null, failureDetail: null, attentionReason: null, nextStepAt: null };

/** Ends the hold or case of the work. `row` as of {@link updateWork}. */
export async function markInProgress(tx: Executor, work: WorkRef, row: WorkRow, now: Date): Promise<void> {
  const change = { status: 'processing', ...NOTHING_IN_THE_WAY, updatedAt: now } as const;
  await updateWork(tx, work, row, change);
  await closePassedCases(tx, work, now);
}

/**
 * Ends its hold or case, and takes it from the gate. No event announces this status. The caller holds the lock of the
 * work. `retryRule` undefined: unchanged.
 */
export async function startSend(
  tx: Executor,
  work: WorkRef,
  now: Date,
  retryRule: RetryRule | undefined,
): Promise<void> {
  const table = workTable(work.kind);
  const rule = retryRule === undefined ? {} : { retryRule };
  await tx
    .update(table)
    .set({ status: 'submitting', ...NOTHING_IN_THE_WAY, ...rule, updatedAt: now })
    .where(eq(table.id, work.id));
  await closePassedCases(tx, work, now);
  await leaveGate(tx, work);
}

async function closePassedCases(tx: Executor, work: WorkRef, now: Date): Promise<void> {
  await closeCases(tx, work, `The ${KINDS[work.kind].noun} continued.`, now);
}

/**
 * Announces the end of the batch with its last order: the lock of the batch's row lets two last orders count one after
 * the other. `row` is from before the end, with all columns of its kind.
 */
export async function countEnded(
  tx: Executor,
  { kind }: WorkRef,
  row: WorkRow,
  status: WorkStatus,
  now: Date,
): Promise<void> {
  if (kind !== 'order' || !isBatchEnd(status) || row.status === status) return;
  const { batchId } = wholeRow('order', row);
  if (batchId === null) return;
  const { size, completed, failed, abandoned } = orderBatches;
  const isLast = sql`${completed} + ${failed} + ${abandoned} + 1 = ${size}`;
  const [batch] = await tx
    .update(orderBatches)
    .set({
      [status]: sql`${orderBatches[status]} + 1`,
      completedAt: sql`case when ${isLast} then ${now.toISOString()}::timestamptz end`,
    })
    .where(eq(orderBatches.id, batchId))
    .returning();
  if (batch === undefined) throw new Error(`batch ${batchId} does not exist`);
  if (batch.completedAt === null) return;
  noteFact(tx, { fact: 'batch', id: batchId, status: 'completed', size: batch.size });
  const data = {
    external_batch_id: batch.externalBatchId,
    size: batch.size,
    completed: batch.completed,
    failed: batch.failed,
    abandoned: batch.abandoned,
  };
  const subject = { kind: 'order_batch', id: batchId } as const;
  await recordEvent(tx, { type: 'order_batch.completed', subject, apiKeyId: batch.apiKeyId, data }, now);
}

function isBatchEnd(status: WorkStatus): status is BatchEnd {
  return (BATCH_ENDS as readonly WorkStatus[]).includes(status);
}
