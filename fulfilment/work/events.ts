import { eq } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { recordEvent, recordStatusEvent, type NewEvent } from '#db/events/event-log.ts';
import { cancellations, refunds } from '#db/schema.ts';
import type { EventData } from '#db/schema/events.ts';
import { openCase } from '#db/work/cases.ts';
import { ownEventData, wholeRow, type WorkRow, type VpnSubscriptionRow, readWork } from '#db/work/rows.ts';
import { workEventType } from '#domain/events/event-types.ts';
import { plainMoney } from '#domain/money/money.ts';
import { subscriptionTimes } from '#domain/money/subscription-periods.ts';
import type { DOUBTS } from '#domain/retry/resubmission.ts';
import { isAboutAccount } from '#domain/work/failure.ts';
import { KINDS, type WorkRef } from '#domain/work/kinds.ts';
import { isFinal } from '#domain/work/lifecycle.ts';

/**
 * A status that was announced last is not announced again: work that is held again for the same reason was held all
 * the time. `row` is the work as it will be, with all columns of its kind.
 */
export async function announceStatus(tx: Executor, work: WorkRef, row: WorkRow, now: Date): Promise<void> {
  const event = statusEvent(work, row);
  if (event !== undefined)
    await recordStatusEvent(tx, event, REASONS_OF_WORK, now, { isOnce: row.status === 'processing' });
}

/** Newly accepted work has no earlier event. @throws Error for another status. */
export function acceptedEvent(work: WorkRef, row: WorkRow): NewEvent {
  const event = row.status === 'accepted' ? statusEvent(work, row) : undefined;
  if (event === undefined) throw new Error(`new work has the status ${row.status}`);
  return { ...event, data: { ...event.data, previous_status: null } };
}

/** They distinguish a status event from the last one of the same type. */
const REASONS_OF_WORK = ['failure_class', 'attention_reason'] as const;

/** @returns undefined for a status that no event announces. */
function statusEvent(work: WorkRef, row: WorkRow): NewEvent | undefined {
  const type = workEventType(work.kind, row.status);
  if (type === undefined) return undefined;
  const data: EventData = {
    status: row.status,
    ...ownEventData(work.kind, row),
    ...(work.kind === 'vpn_subscription' && timesOfSubscription(wholeRow('vpn_subscription', row))),
    ...(KINDS[work.kind].esim !== 'none' && { esim_id: row.esimId }),
    failure_class: row.failureClass,
    failure_ended_by: row.failureEnd,
    // An event reaches keys that see their own work only.
    service_message: row.failureClass === null || isAboutAccount(row.failureClass) ? null : row.serviceMessage,
    attention_reason: row.attentionReason,
    // A cancellation is never charged; its refund has an event of its own.
    ...(KINDS[work.kind].isPurchase && { charged: plainMoney(row.chargedAmount, row.chargedCurrency) }),
  };
  return { type, subject: work, apiKeyId: row.apiKeyId, data, traceparent: row.traceparent };
}

function timesOfSubscription(row: VpnSubscriptionRow): EventData {
  const { status, completedAt, expiresAt, updatedAt } = row;
  const { endedAt, cancelledAt } = subscriptionTimes(row, completedAt && isFinal(status) ? updatedAt : null);
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
  const ended = isFinal(row.status) ? statusEvent(work, row) : undefined;
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
