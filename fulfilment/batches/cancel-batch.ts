/** Cancelling a batch: no order that has bought nothing is sent any more. An order that may have been sent goes on. */
import { and, desc, eq, isNull } from 'drizzle-orm';
import { addAuditEntry } from '#db/access/audit-log.ts';
import type { Database, Executor } from '#db/connection/database.ts';
import { orderBatches, orders } from '#db/schema.ts';
import { unfinished } from '#db/schema/columns.ts';
import { wholeRow, type WorkRow } from '#db/work/kinds.ts';
import type { OrderBatchRow } from '#db/work/rows.ts';
import type { Operator } from '#domain/operator/operator-actions.ts';
import type { WorkRef } from '#domain/work/kinds.ts';
import { actOnWork } from '#fulfilment/operator/operator-actions.ts';
import { performAction } from '#fulfilment/operator/perform-action.ts';

/** Orders that are abandoned at once. Each is a transaction of its own. */
const CONCURRENT = 4;

/** Who cancels a batch, and why. */
export type BatchCanceller = Pick<Operator, 'actor' | 'reason'>;

/**
 * Stores that a batch is cancelled, with an audit entry. The first request counts. From here on each of its orders is
 * abandoned when it is about to be sent.
 */
export async function requestBatchCancel(
  tx: Executor,
  id: string,
  { actor, reason }: BatchCanceller,
  now: Date,
): Promise<void> {
  const requested = await tx
    .update(orderBatches)
    .set({ cancelRequestedAt: now, cancelRequestedBy: actor, cancelReason: reason })
    .where(and(eq(orderBatches.id, id), isNull(orderBatches.cancelRequestedAt), isNull(orderBatches.completedAt)))
    .returning({ id: orderBatches.id });
  if (requested.length === 0) return;
  const subject = { kind: 'order_batch', id } as const;
  await addAuditEntry(tx, { actor, action: 'order_batch.cancel', subject, reason }, now);
}

/**
 * Abandons the orders of a cancelled batch that have provably bought nothing, the last position first: those are least
 * likely to be under way.
 *
 * @param isOver true when no further order is to be begun.
 */
export async function abandonUnsent(
  database: Database,
  batch: OrderBatchRow,
  now: () => number,
  isOver: () => boolean,
) {
  const operator = cancellerOf(batch);
  if (operator === undefined) return;
  const open = await database.run((db) =>
    db
      .select({ id: orders.id })
      .from(orders)
      .where(and(eq(orders.batchId, batch.id), unfinished(orders.status)))
      .orderBy(desc(orders.batchPosition)),
  );
  const next = open[Symbol.iterator]();
  const abandonEach = async () => {
    for (const { id } of next) {
      if (isOver()) return;
      const request = {
        work: { kind: 'order', id },
        action: { action: 'abandon' },
        operator,
        owner: undefined,
      } as const;
      await performAction(database, request, new Date(now()));
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT }, abandonEach));
}

/**
 * Abandons an order that is about to be sent, when its batch is cancelled and it has bought nothing.
 *
 * @param row of the work, locked in this transaction.
 * @returns true when it is abandoned.
 */
export async function abandonIfCancelled(tx: Executor, work: WorkRef, row: WorkRow, now: Date): Promise<boolean> {
  const batchId = work.kind === 'order' ? wholeRow('order', row).batchId : null;
  if (batchId === null) return false;
  const [batch] = await tx.select().from(orderBatches).where(eq(orderBatches.id, batchId));
  const operator = batch && cancellerOf(batch);
  if (operator === undefined) return false;
  const result = await actOnWork(tx, work, { action: 'abandon' }, operator, now);
  return result.kind === 'applied';
}

/** The operator of a cancelled batch: the same for each of its orders, so that each is abandoned once. */
function cancellerOf({ id, cancelRequestedBy: actor, cancelReason: reason }: OrderBatchRow): Operator | undefined {
  return actor === null || reason === null ? undefined : { actor, reason, actionId: `batch_cancel:${id}` };
}
