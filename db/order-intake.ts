import { eq } from 'drizzle-orm';
import type { Money } from '#domain/money.ts';
import type { Executor } from '#db/database.ts';
import { requestStart } from '#db/outbox.ts';
import { orders } from '#db/schema.ts';
import { addTimelineEntry } from '#db/timeline.ts';

export interface NewOrder {
  readonly id: string;
  readonly apiKeyId: string;
  readonly externalOrderId: string;
  readonly packageId: number;
  /** Sealed for `deviceImeiPlace` of `orders.ts`. */
  readonly sealedDeviceImei: Buffer | null;
  readonly maxPrice: Money | null;
  readonly deadlineAt: Date | null;
  readonly metadata: Readonly<Record<string, string>>;
}

export type OrderIntake =
  | { readonly accepted: true }
  /** The reference is taken: an order is made at most once for it, whatever key or caller asks. */
  | { readonly accepted: false; readonly existingOrderId: string };

/**
 * Accepts an order: the row, the request to start its workflow and the first line of its timeline, in the caller's
 * transaction. Temporal may be down.
 */
export async function acceptOrder(tx: Executor, order: NewOrder, now: Date): Promise<OrderIntake> {
  const inserted = await tx
    .insert(orders)
    .values({
      id: order.id,
      apiKeyId: order.apiKeyId,
      externalOrderId: order.externalOrderId,
      packageId: order.packageId,
      sealedDeviceImei: order.sealedDeviceImei,
      maxPriceAmount: order.maxPrice?.amount ?? null,
      maxPriceCurrency: order.maxPrice?.currency ?? null,
      deadlineAt: order.deadlineAt,
      metadata: { ...order.metadata },
      createdAt: now,
      updatedAt: now,
    })
    .onConflictDoNothing({ target: orders.externalOrderId })
    .returning({ id: orders.id });
  if (inserted.length === 0) return { accepted: false, existingOrderId: await orderIdOf(tx, order.externalOrderId) };
  const work = { kind: 'order', id: order.id } as const;
  await requestStart(tx, work);
  await addTimelineEntry(tx, work, {
    event: 'order.accepted',
    message: 'The order was accepted and stored; its workflow is about to start.',
    detail: { package_id: order.packageId },
    dedupKey: 'order.accepted',
    at: now,
  });
  return { accepted: true };
}

/** The insert waited for whoever took the reference, so that order is committed and seen by this later statement. */
async function orderIdOf(tx: Executor, externalOrderId: string): Promise<string> {
  const [row] = await tx.select({ id: orders.id }).from(orders).where(eq(orders.externalOrderId, externalOrderId));
  if (row === undefined) throw new Error('an order took this external_order_id and is gone: orders are never deleted');
  return row.id;
}
