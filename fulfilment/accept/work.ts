import { desc, eq } from 'drizzle-orm';
import { noteFact } from '#db/connection/after-commit.ts';
import { type Executor, sendTogether } from '#db/connection/database.ts';
import { placesOf, prepared } from '#db/connection/prepared-statements.ts';
import { recordEvent } from '#db/events/event-log.ts';
import { requestStart } from '#db/queues/outbox.ts';
import { cancellations, orders, topups, vpnSubscriptions } from '#db/schema.ts';
import { findHolderId } from '#db/work/reference-holders.ts';
import type { OrderRow, WorkRow } from '#db/work/rows.ts';
import { addTimelineEntry, type TimelineEntry } from '#db/work/timeline.ts';
import { KINDS, type WorkKind, type WorkRef } from '#domain/work/kinds.ts';
import { acceptedEvent } from '#fulfilment/work/events.ts';

export type NewOrder = typeof orders.$inferInsert;

/** What an order has in common with other work. */
export type NewWork = Omit<
  NewOrder,
  'externalOrderId' | 'packageId' | 'encryptedDeviceImei' | 'batchId' | 'batchPosition' | 'esimId' | 'status'
>;

export type NewCustomer = Required<
  Pick<typeof vpnSubscriptions.$inferInsert, 'encryptedCustomerReference' | 'customerReferenceHash'>
>;

export type Acceptance<Row = unknown> =
  | { readonly accepted: true; readonly id: string; readonly row: Row }
  /** One reference makes work once, whatever key or caller is used. */
  | { readonly accepted: false; readonly existingId: string };

/*
 * An insert names no conflict target: the id follows from the reference and its use, so a concurrent insert may
 * conflict with several indexes. The holder is read after the insert has waited for the other transaction, so that its
 * row is committed and visible.
 */

export async function acceptOrder(tx: Executor, order: NewOrder, now: Date): Promise<Acceptance<OrderRow>> {
  const { shape, places, values } = placesOf({ ...order, createdAt: now, updatedAt: now });
  const statement = prepared(tx, `insert order ${shape}`, (on, name) =>
    on.insert(orders).values(places).onConflictDoNothing().returning().prepare(name),
  );
  const [row] = await statement.execute(values);
  if (row === undefined) return takenBy('order', await findHolderId(tx, 'order', order.externalOrderId));
  return accepted(tx, 'order', row, { package_id: row.packageId, ...replacedBy(row) }, now);
}

export async function acceptTopup(
  tx: Executor,
  topup: typeof topups.$inferInsert & Pick<WorkRow, 'esimId'>,
  now: Date,
) {
  const values = { ...topup, createdAt: now, updatedAt: now };
  const [row] = await tx.insert(topups).values(values).onConflictDoNothing().returning();
  // Only a reference can conflict; without one this matches nothing.
  if (row === undefined) return takenBy('topup', await findHolderId(tx, 'topup', topup.externalTopupId ?? ''));
  const { esimId: esim_id, packageId: package_id } = row;
  return accepted(tx, 'topup', row, { esim_id, package_id, ...replacedBy(row) }, now);
}

export async function acceptVpnSubscription(
  tx: Executor,
  subscription: typeof vpnSubscriptions.$inferInsert,
  now: Date,
) {
  const values = { ...subscription, createdAt: now, updatedAt: now };
  const [row] = await tx.insert(vpnSubscriptions).values(values).onConflictDoNothing().returning();
  if (row === undefined) {
    const { externalSubscriptionId } = subscription;
    return takenBy('vpn_subscription', await findHolderId(tx, 'vpn_subscription', externalSubscriptionId));
  }
  return accepted(tx, 'vpn_subscription', row, { vpn_plan_id: row.vpnPlanId, ...replacedBy(row) }, now);
}

/** One per eSIM may be open. */
export async function acceptCancellation(
  tx: Executor,
  cancellation: typeof cancellations.$inferInsert & { readonly esimId: string },
  now: Date,
) {
  const { esimId } = cancellation;
  const values = { ...cancellation, createdAt: now, updatedAt: now };
  const [row] = await tx.insert(cancellations).values(values).onConflictDoNothing().returning();
  if (row === undefined) {
    const [newest] = await tx
      .select({ id: cancellations.id })
      .from(cancellations)
      .where(eq(cancellations.esimId, esimId))
      // The blocking one may have been refused just now; it is still the newest.
      .orderBy(desc(cancellations.createdAt))
      .limit(1);
    return takenBy('cancellation', newest?.id);
  }
  return accepted(tx, 'cancellation', row, { esim_id: esimId, on_unmet_conditions: row.onUnmetConditions }, now);
}

function takenBy(kind: WorkKind, existingId: string | undefined) {
  if (existingId === undefined)
    throw new Error(`a ${KINDS[kind].noun} took this reference and is gone: none is ever deleted`);
  return { accepted: false, existingId } as const;
}

function replacedBy({ replacesId }: Pick<OrderRow, 'replacesId'>): { readonly replaces?: string } {
  return replacesId === null ? {} : { replaces: replacesId };
}

async function accepted<Row extends WorkRow>(
  tx: Executor,
  kind: WorkKind,
  row: Row,
  detail: TimelineEntry['detail'] & object,
  now: Date,
) {
  const work: WorkRef = { kind, id: row.id };
  await sendTogether([
    () => requestStart(tx, work),
    () => addTimelineEntry(tx, work, acceptedEntry(kind, detail, now)),
    () => recordEvent(tx, acceptedEvent(work, row), now),
  ]);
  const { status, failureClass, attentionReason, requestId, traceparent, createdAt: acceptedAt } = row;
  const reasons = { previous: undefined, failureClass, attentionReason };
  const fact = { status, ...reasons, requestId, traceparent, acceptedAt, isCompletion: false };
  noteFact(tx, { fact: 'status', ...work, ...fact });
  return { accepted: true, id: row.id, row } as const;
}

export function acceptedEntry(kind: WorkKind, detail: TimelineEntry['detail'] & object, now: Date) {
  const event = `${kind}.accepted`;
  const message = `The ${KINDS[kind].noun} was accepted and stored; its workflow is about to start.`;
  return { event, message, detail, dedupKey: event, at: now };
}
