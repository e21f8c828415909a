/** Orders as their workflow sees them: load, move on, finish. What the API reads and writes is in its own files. */
import { and, eq, inArray, lt, not, or, isNull, sql } from 'drizzle-orm';
import type { AttentionReason, FailureNote } from '#domain/attention.ts';
import type { Money } from '#domain/money.ts';
import type { BuyingBarrier } from '#domain/purchase-decision.ts';
import { FINAL_ORDER_STATUSES, isFinal, mayFollow, type OrderStatus } from '#domain/order-lifecycle.ts';
import { buyingBarrier } from '#db/buying-barrier.ts';
import { closeCases, openCase } from '#db/cases.ts';
import type { Executor } from '#db/database.ts';
import { newId } from '#db/ids.ts';
import { markApplied, returnUnanswered } from '#db/inbox.ts';
import { requestOrderStart } from '#db/outbox.ts';
import { attempts, esims, orders } from '#db/schema.ts';
import { addTimelineEntry, type TimelineEntry } from '#db/timeline.ts';

export type OrderRow = typeof orders.$inferSelect;

/** The order has ended; nothing may change it any more. */
export class OrderFinishedError extends Error {
  readonly orderId: string;
  readonly status: OrderStatus;

  constructor(orderId: string, status: OrderStatus) {
    super(`order ${orderId} has ended as ${status}`);
    this.name = 'OrderFinishedError';
    this.orderId = orderId;
    this.status = status;
  }
}

/** The order is not in the database: it was never accepted, or this is another database. */
export class OrderMissingError extends Error {
  constructor(orderId: string) {
    super(`order ${orderId} does not exist in this database`);
    this.name = 'OrderMissingError';
  }
}

/** @throws OrderMissingError */
export async function readOrder(db: Executor, orderId: string): Promise<OrderRow> {
  const [order] = await db.select().from(orders).where(eq(orders.id, orderId));
  if (order === undefined) throw new OrderMissingError(orderId);
  return order;
}

/** Reads and locks an order. Whoever changes order and attempt locks the order first. @throws OrderMissingError */
export async function lockOrder(tx: Executor, orderId: string): Promise<OrderRow> {
  const [order] = await tx.select().from(orders).where(eq(orders.id, orderId)).for('update');
  if (order === undefined) throw new OrderMissingError(orderId);
  return order;
}

/** Reads and locks an order that has not ended. @throws OrderMissingError, OrderFinishedError */
export async function lockUnfinishedOrder(tx: Executor, orderId: string): Promise<OrderRow> {
  const order = await lockOrder(tx, orderId);
  if (isFinal(order.status)) throw new OrderFinishedError(orderId, order.status);
  return order;
}

/** Where the sealed IMEI of an order stands. */
export function deviceImeiPlace(orderId: string): string {
  return `orders.sealed_device_imei/${orderId}`;
}

/** Where the sealed activation code of an eSIM stands. */
export function activationCodePlace(esimId: string): string {
  return `esims.sealed_activation_code/${esimId}`;
}

/** Shows that a purchase is under way; what an order was held or parked for is over. The caller holds its lock. */
export async function markInProgress(tx: Executor, orderId: string, status: 'submitting' | 'processing', now: Date): Promise<void> {
  await tx
    .update(orders)
    .set({ status, failureClass: null, failureDetail: null, attentionReason: null, nextStepAt: null, updatedAt: now })
    .where(eq(orders.id, orderId));
  await closeCases(tx, { kind: 'order', id: orderId }, 'The order went on.', now);
}

/** A step of an order: where it stands from now on, and why. */
export interface OrderStep {
  readonly status: OrderStatus;
  readonly entry: TimelineEntry;
  readonly failure?: FailureNote | undefined;
  readonly attention?: { readonly reason: AttentionReason; readonly detail: string } | undefined;
  readonly nextStepAt?: Date | undefined;
  /** Rows of the inbox that this step answers. */
  readonly applied?: readonly bigint[] | undefined;
}

/**
 * Moves an order on: status, timeline, case and inbox in one transaction.
 *
 * @returns `may_be_bought`, with nothing changed, when the order was to fail although an attempt may have bought: a
 *   send that everybody had given up may have begun after all; or what bars its failing.
 * @throws OrderFinishedError when it has ended; RangeError when the status may not follow the present one.
 */
export async function recordStep(
  tx: Executor,
  orderId: string,
  step: OrderStep,
  now: Date,
): Promise<'recorded' | 'may_be_bought' | BuyingBarrier> {
  const order = await lockUnfinishedOrder(tx, orderId);
  if (step.status === 'failed') {
    const barrier = await buyingBarrier(tx, orderId, step.applied);
    if (barrier !== undefined) return barrier;
    if (await mayBeBought(tx, orderId)) return 'may_be_bought';
  }
  if (!mayFollow(order.status, step.status)) {
    throw new RangeError(`order ${orderId} cannot go from ${order.status} to ${step.status}`);
  }
  await tx
    .update(orders)
    .set({
      status: step.status,
      failureClass: step.failure?.class ?? null,
      failureDetail: step.failure?.detail ?? null,
      attentionReason: step.attention?.reason ?? null,
      nextStepAt: step.nextStepAt ?? null,
      updatedAt: now,
    })
    .where(eq(orders.id, orderId));
  await addTimelineEntry(tx, { kind: 'order', id: orderId }, step.entry);
  if (step.attention !== undefined) {
    await openCase(tx, { kind: 'order', id: orderId }, step.attention.reason, step.attention.detail);
  } else if (order.status === 'needs_attention') {
    await closeCases(tx, { kind: 'order', id: orderId }, step.entry.message, now);
  }
  await markApplied(tx, step.applied ?? [], step.entry.message, now);
  if (isFinal(step.status)) await returnUnanswered(tx, orderId);
  return 'recorded';
}

async function mayBeBought(tx: Executor, orderId: string): Promise<boolean> {
  const open = await tx
    .select({ id: attempts.id })
    .from(attempts)
    .where(
      and(
        eq(attempts.subjectKind, 'order'),
        eq(attempts.subjectId, orderId),
        inArray(attempts.state, ['sending', 'unknown', 'processing', 'completed']),
      ),
    )
    .limit(1);
  return open.length > 0;
}

/** What a completed order delivered. */
export interface DeliveredEsim {
  readonly serviceEsimId: string;
  readonly iccid: string;
  /** Seals the activation code for the row of this eSIM. */
  readonly sealedActivationCode: (esimId: string) => Buffer;
  readonly status: string;
  readonly installedAt: Date | null;
  readonly activatedAt: Date | null;
  readonly expiresAt: Date | null;
}

/**
 * Completes an order with its eSIM. Run twice it leaves the same rows.
 *
 * @returns the id of the eSIM.
 * @throws OrderFinishedError when it ended otherwise.
 */
export async function completeOrder(
  tx: Executor,
  orderId: string,
  delivery: { esim: DeliveredEsim; attemptId: string; charged: Money | undefined; applied: readonly bigint[] },
  now: Date,
): Promise<string> {
  const order = await lockUnfinishedOrder(tx, orderId);
  const esimId = newId('esim');
  const { esim } = delivery;
  await tx.insert(esims).values({
    id: esimId,
    orderId,
    serviceEsimId: esim.serviceEsimId,
    iccid: esim.iccid,
    packageId: order.packageId,
    sealedActivationCode: esim.sealedActivationCode(esimId),
    status: esim.status,
    installedAt: esim.installedAt,
    activatedAt: esim.activatedAt,
    expiresAt: esim.expiresAt,
    factsReadAt: now,
  });
  await tx.update(attempts).set({ state: 'completed', lastHeardAt: now }).where(eq(attempts.id, delivery.attemptId));
  await tx
    .update(orders)
    .set({
      esimId,
      completedAt: now,
      chargedAmount: delivery.charged?.amount ?? null,
      chargedCurrency: delivery.charged?.currency ?? null,
    })
    .where(eq(orders.id, orderId));
  await recordStep(
    tx,
    orderId,
    {
      status: 'completed',
      entry: {
        event: 'order.completed',
        message: 'The eSIM was delivered and stored.',
        detail: { esim_id: esimId, service_esim_id: esim.serviceEsimId },
        dedupKey: 'order.completed',
      },
      applied: delivery.applied,
    },
    now,
  );
  return esimId;
}

/**
 * Asks anew for the workflows of unfinished orders that nothing was heard of for a while; starting one that runs
 * changes nothing. This finds orders whose workflow was terminated, and all of them after Temporal lost its data.
 *
 * @returns how many were asked for.
 */
export async function requestStartOfIdleOrders(
  tx: Executor,
  options: { idleBefore: Date; batch: number; now: Date },
): Promise<number> {
  const idle = await tx
    .select({ id: orders.id })
    .from(orders)
    .where(
      and(
        not(inArray(orders.status, [...FINAL_ORDER_STATUSES])),
        lt(orders.updatedAt, options.idleBefore),
        or(isNull(orders.sweptAt), lt(orders.sweptAt, options.idleBefore)),
      ),
    )
    .orderBy(sql`${orders.sweptAt} nulls first`)
    .limit(options.batch)
    .for('update', { skipLocked: true });
  for (const { id } of idle) await requestOrderStart(tx, id);
  const ids = idle.map(({ id }) => id);
  if (ids.length > 0) await tx.update(orders).set({ sweptAt: options.now }).where(inArray(orders.id, ids));
  return ids.length;
}
