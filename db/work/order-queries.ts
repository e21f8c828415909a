/** Orders as the API shows them. */
import { eq } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { oneOf } from '#db/lists/pages.ts';
import { orders } from '#db/schema.ts';
import type { OrderRow } from '#db/work/rows.ts';
import type { WorkFilter } from '#db/work/work-queries.ts';
import { workReads, type StoredWork } from '#db/work/work-reads.ts';
import { WorkMissingError } from '#db/work/work-rows.ts';

/** An order with what its attempts add. */
export type StoredOrder = StoredWork<OrderRow>;

export interface OrderFilter extends WorkFilter {
  /** One of these. */
  readonly externalOrderIds?: readonly string[] | undefined;
  readonly packageId?: number | undefined;
  readonly esimId?: string | undefined;
  readonly batchId?: string | undefined;
  readonly customerReferenceHash?: Buffer | undefined;
}

export const orderReads = workReads<StoredOrder, OrderFilter>('order', {
  externalOrderIds: oneOf(orders.externalOrderId),
  packageId: orders.packageId,
  esimId: orders.esimId,
  batchId: orders.batchId,
  customerReferenceHash: orders.customerReferenceHash,
});

/** @throws WorkMissingError */
export async function readOrder(db: Executor, orderId: string): Promise<OrderRow> {
  const [order] = await db.select().from(orders).where(eq(orders.id, orderId));
  if (order === undefined) throw new WorkMissingError({ kind: 'order', id: orderId });
  return order;
}
