import { eq } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { recordEvent, recordStatusEvent, type NewEvent } from '#db/events/event-log.ts';
import { cancellations, refunds } from '#db/schema.ts';
import type { EventData } from '#db/schema/events.ts';
import { openCase } from '#db/work/cases.ts';
import { type SharedColumns, type WorkRow, type VpnSubscriptionRow, readWork } from '#db/work/rows.ts';
import { workEventType } from '#domain/events/event-types.ts';
import { plainMoney } from '#domain/money/money.ts';
import { subscriptionTimes } from '#domain/money/subscription-periods.ts';
import type { DOUBTS } from '#domain/retry/resubmission.ts';
import { isAboutAccount } from '#domain/work/failure.ts';
import { KINDS, type WorkRef } from '#domain/work/kinds.ts';
import { isFinal } from '#domain/work/lifecycle.ts';

/**
 * A status that was announced last is not announced again: work that is held again for the same reason was held all
 * the time. `after` has the columns as they will be.
 */
export async function announceStatus(
  tx: Executor,
  work: WorkRef,
  row: WorkRow,
  after: SharedColumns,
  now: Date,
): Promise<void> {
  const event = statusEvent(work, row, after);
  if (event === undefined) return;
  await recordStatusEvent(tx, event, REASONS_OF_WORK, now, { isOnce: after.status === 'processing' });
}

/** Newly accepted work has no earlier event. @throws Error for another status. */
export function acceptedEvent(work: WorkRef, row: WorkRow): NewEvent {
  const event = row.status === 'accepted' ? statusEvent(work, row, row) : undefined;
  if (event === undefined) throw new Error(`new work has the status ${row.status}`);
  return { ...event, data: { ...event.data, previous_status: null } };
}

/** They distinguish a status event from the last one of the same type. */
const REASONS_OF_WORK = ['failure_class', 'attention_reason'] as const;

/** @returns undefined for a status that no event announces. */
function statusEvent(work: WorkRef, row: WorkRow, after: SharedColumns): NewEvent | undefined {
  const type = workEventType(work.kind, after.status);
  if (type === undefined) return undefined;
  const { failureClass } = after;
  const data: EventData = {
    status: after.status,
    ...ownData(row, after),
    failure_class: failureClass,
    failure_ended_by: after.failureEnd,
    // An event reaches keys that see their own work only.
    service_message: failureClass === null || isAboutAccount(failureClass) ? null : after.serviceMessage,
    attention_reason: after.attentionReason,
    // A cancellation is never charged; its refund has an event of its own.
    ...(KINDS[work.kind].isPurchase && { charged: plainMoney(after.chargedAmount, after.chargedCurrency) }),
  };
  return { type, subject: work, apiKeyId: row.apiKeyId, data, traceparent: row.traceparent };
}

function ownData(row: WorkRow, after: SharedColumns): EventData {
  const { esimId: esim_id } = after;
  if ('externalOrderId' in row) {
    const { externalOrderId: external_order_id, packageId: package_id, batchId: batch_id } = row;
    return { external_order_id, package_id, batch_id, esim_id };
  }
  if ('externalTopupId' in row) {
    return { external_topup_id: row.externalTopupId, package_id: row.packageId, esim_id };
  }
  if ('externalSubscriptionId' in row) {
    const { externalSubscriptionId: external_subscription_id, vpnPlanId: vpn_plan_id } = row;
    return { external_subscription_id, vpn_plan_id, ...timesOfSubscription(row, after) };
  }
  return { on_unmet_conditions: row.onUnmetConditions, esim_id };
}

function timesOfSubscription(row: VpnSubscriptionRow, { status, completedAt, updatedAt }: SharedColumns): EventData {
  const { expiresAt, cancelAcceptedAt } = row;
  const end = completedAt && isFinal(status) ? updatedAt : null;
  const { endedAt, cancelledAt } = subscriptionTimes({ status, expiresAt, cancelAcceptedAt }, end);
  const json = (time: Date | null) => time?.toISOString() ?? null;
  return {
    current_period_end: json(completedAt && expiresAt),
    ended_at: json(endedAt),
    cancelled_at: json(cancelledAt),
  };
}

/** Tells the caller of work that had ended. */
export async function openContradiction(
  tx: Executor,
  work: WorkRef,
  detail: string,
  now: Date,
  attemptId?: string,
): Promise<void> {
  if (await openCase(tx, work, 'contradiction', detail, attemptId)) await announceDoubt(tx, work, 'contradiction', now);
}

/** The end of the work is in doubt. Call it when the case of `reason` opens. */
export async function announceDoubt(
  tx: Executor,
  work: WorkRef,
  reason: (typeof DOUBTS)[number],
  now: Date,
): Promise<void> {
  const row = await readWork(tx, work);
  const ended = isFinal(row.status) ? statusEvent(work, row, row) : undefined;
  if (ended === undefined) return;
  const data = { ...ended.data, previous_status: row.status, attention_reason: reason };
  await recordEvent(tx, { ...ended, type: `${work.kind}.in_doubt`, data }, now);
}

export async function announceRefund(tx: Executor, cancellationId: string, now: Date): Promise<void> {
  const [row] = await tx
    .select({ refund: refunds, apiKeyId: cancellations.apiKeyId, traceparent: cancellations.traceparent })
    .from(refunds)
    .innerJoin(cancellations, eq(cancellations.id, refunds.cancellationId))
    .where(eq(refunds.cancellationId, cancellationId));
  if (row === undefined) return;
  const { id, status, orderId, esimId, amount, currency } = row.refund;
  const data: EventData = {
    status,
    cancellation_id: cancellationId,
    order_id: orderId,
    esim_id: esimId,
    amount: plainMoney(amount, currency),
  };
  const { apiKeyId, traceparent } = row;
  const event = { type: `refund.${status}`, subject: { kind: 'refund', id }, apiKeyId, data, traceparent } as const;
  await recordStatusEvent(tx, event, [], now);
}
