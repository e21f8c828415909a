import { and, eq, inArray, isNull, ne, or, desc } from 'drizzle-orm';
import { addAuditEntry } from '#db/access/audit-log.ts';
import { noteFact } from '#db/connection/after-commit.ts';
import type { Executor, Database } from '#db/connection/database.ts';
import { recordEvents } from '#db/events/event-log.ts';
import { requestStarts } from '#db/queues/outbox.ts';
import { orderBatches, orders } from '#db/schema.ts';
import { unfinished } from '#db/schema/columns.ts';
import type { OrderBatchRow, OrderRow, WorkRow } from '#db/work/rows.ts';
import { addTimelineEntries } from '#db/work/timeline.ts';
import type { Operator } from '#domain/operator/operator-actions.ts';
import type { WorkRef } from '#domain/work/kinds.ts';
import { acceptedEntry, type NewOrder } from '#fulfilment/accept/work.ts';
import { actOnWork } from '#fulfilment/operator/operator-actions.ts';
import { performAction } from '#fulfilment/operator/perform-action.ts';
import { acceptedEvent } from '#fulfilment/work/events.ts';

export type NewBatch = Pick<OrderBatchRow, 'id' | 'apiKeyId' | 'externalBatchId' | 'items' | 'metadata'> & {
  readonly orders: readonly NewOrder[];
};

export type BatchAcceptance =
  | { readonly accepted: true; readonly row: OrderBatchRow }
  /** The caller's reference of the batch, or of one of its orders, is taken. The caller rolls back. */
  | { readonly accepted: false; readonly taken: 'batch' | 'order'; readonly existingId: string };

/** A fixed number of statements writes what the acceptance of each order would write. */
export async function acceptBatch(tx: Executor, batch: NewBatch, now: Date): Promise<BatchAcceptance> {
  const { id, apiKeyId, externalBatchId, items, metadata } = batch;
  const [row] = await tx
    .insert(orderBatches)
    .values({
      id,
      apiKeyId,
      externalBatchId,
      items,
      metadata,
      size: batch.orders.length,
      createdAt: now,
    })
    .onConflictDoNothing()
    .returning();
  if (row === undefined) return takenBy('batch', await findBatchCalled(tx, externalBatchId));

  const values = batch.orders.map((order, index) => ({
    ...order,
    createdAt: now,
    updatedAt: now,
    batchId: id,
    batchPosition: index + 1,
  }));
  const accepted = await tx.insert(orders).values(values).onConflictDoNothing().returning();
  if (accepted.length < values.length) return takenBy('order', await findTakenOrder(tx, batch));
  await startAll(tx, accepted, now);
  const { requestId, traceparent } = batch.orders[0] ?? {};
  noteFact(tx, { fact: 'batch', id, status: 'accepted', size: row.size, requestId, traceparent });
  return { accepted: true, row };
}

/** Writes nothing: a batch refused for another reason must not leave the rows of a rolled-back transaction. */
export async function findTakenOfBatch(
  tx: Executor,
  batch: NewBatch,
): Promise<Extract<BatchAcceptance, { accepted: false }> | undefined> {
  const known = await findBatchCalled(tx, batch.externalBatchId);
  if (known !== undefined) return { accepted: false, taken: 'batch', existingId: known };
  const holder = await findTakenOrder(tx, batch);
  return holder === undefined ? undefined : { accepted: false, taken: 'order', existingId: holder };
}

async function startAll(tx: Executor, accepted: readonly OrderRow[], now: Date): Promise<void> {
  const works = accepted.map((row) => ({ row, work: { kind: 'order', id: row.id } as const }));
  await requestStarts(
    tx,
    works.map(({ work }) => work),
  );
  await addTimelineEntries(
    tx,
    works.map(({ work, row: { packageId, batchId } }) => ({
      subject: work,
      entry: acceptedEntry('order', { package_id: packageId, batch_id: batchId }, now),
    })),
  );
  await recordEvents(
    tx,
    works.map(({ work, row }) => acceptedEvent(work, row)),
    now,
  );
}

function takenBy(taken: 'batch' | 'order', existingId: string | undefined) {
  if (existingId === undefined) throw new Error(`the ${taken} that took a reference is gone: none is ever deleted`);
  return { accepted: false, taken, existingId } as const;
}

async function findBatchCalled(tx: Executor, externalBatchId: string): Promise<string | undefined> {
  const [holder] = await tx
    .select({ id: orderBatches.id })
    .from(orderBatches)
    .where(eq(orderBatches.externalBatchId, externalBatchId));
  return holder?.id;
}

async function findTakenOrder(tx: Executor, { id, orders: wanted }: NewBatch): Promise<string | undefined> {
  const references = wanted.map(({ externalOrderId }) => externalOrderId);
  const [holder] = await tx
    .select({ id: orders.id })
    .from(orders)
    .where(and(inArray(orders.externalOrderId, references), or(isNull(orders.batchId), ne(orders.batchId, id))))
    .limit(1);
  return holder?.id;
}

/** Each abandonment is a transaction of its own. */
const CONCURRENT = 4;

/** The first request counts. From here on each order is abandoned when it is about to be sent. */
export async function requestBatchCancel(
  tx: Executor,
  id: string,
  { actor, reason }: Pick<Operator, 'actor' | 'reason'>,
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

/** Abandons orders that provably bought nothing. The last position goes first: it is least likely to be under way. */
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
 * For an order about to be sent that has bought nothing. `row` is locked in this transaction. @returns `not_compared`:
 * its batch is cancelled, but PostgreSQL may have lost a send of it.
 */
export async function abandonIfCancelled(
  tx: Executor,
  work: WorkRef,
  row: WorkRow,
  now: Date,
): Promise<'abandoned' | 'not_compared' | undefined> {
  const batchId = 'batchId' in row ? row.batchId : null;
  if (batchId === null) return undefined;
  const [batch] = await tx.select().from(orderBatches).where(eq(orderBatches.id, batchId));
  const operator = batch && cancellerOf(batch);
  if (operator === undefined) return undefined;
  const result = await actOnWork(tx, work, { action: 'abandon' }, operator, now);
  if (result.kind === 'applied') return 'abandoned';
  return result.kind === 'refused' && result.refusal === 'not_compared' ? 'not_compared' : undefined;
}

/** The same for each order of the batch, so that each is abandoned once. */
function cancellerOf({ id, cancelRequestedBy: actor, cancelReason: reason }: OrderBatchRow): Operator | undefined {
  return actor === null || reason === null ? undefined : { actor, reason, actionId: `batch_cancel:${id}` };
}
