import { eq, sql } from 'drizzle-orm';
import { noteFact } from '#db/connection/after-commit.ts';
import type { Executor } from '#db/connection/database.ts';
import { recordEvent } from '#db/events/event-log.ts';
import { orderBatches } from '#db/schema.ts';
import { wholeRow, type WorkRow } from '#db/work/kinds.ts';
import { BATCH_ENDS, type BatchEnd } from '#domain/work/batches.ts';
import type { WorkRef } from '#domain/work/kinds.ts';
import type { WorkStatus } from '#domain/work/lifecycle.ts';

/**
 * Counts an order of a batch that ends in this transaction. Announces the end of the batch with its last order: the
 * lock of the batch's row lets two last orders count one after the other.
 *
 * @param row of the work before its end, with all columns of its kind.
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
