/** Announces statuses of work and refunds. */
import { eq } from 'drizzle-orm';
import { runWrites, type Write } from '#db/connection/alongside.ts';
import type { Executor } from '#db/connection/database.ts';
import { recordingStatusEvent, type NewEvent } from '#db/events/event-log.ts';
import { cancellations, refunds } from '#db/schema.ts';
import type { EventData } from '#db/schema/events.ts';
import { ownEventData, type WorkRow } from '#db/work/kinds.ts';
import { workEventType } from '#domain/events/event-types.ts';
import { plainMoney } from '#domain/money/money.ts';
import { KINDS, type WorkRef } from '#domain/work/kinds.ts';

/**
 * Announces a status of work as part of another statement, unless it was announced last: work that is held again for
 * the same reason was held all the time.
 * @param row the work as it will be, with all columns of its kind.
 * @returns a write that returns the event if it is new; undefined for a status that no event announces.
 */
export function announcing(work: WorkRef, row: WorkRow, now: Date): Write | undefined {
  const event = statusEvent(work, row);
  return event && recordingStatusEvent(event, REASONS_OF_WORK, now);
}

/** The event of newly accepted work, which has no earlier one. @throws Error for another status. */
export function acceptedEvent(work: WorkRef, row: WorkRow): NewEvent {
  const event = row.status === 'accepted' ? statusEvent(work, row) : undefined;
  if (event === undefined) throw new Error(`new work has the status ${row.status}`);
  return { ...event, data: { ...event.data, previous_status: null } };
}

/** Fields that, beside the type, distinguish a status event of work from the last one. */
const REASONS_OF_WORK = ['failure_class', 'attention_reason'] as const;

/** @returns undefined for a status that no event announces. */
function statusEvent(work: WorkRef, row: WorkRow): NewEvent | undefined {
  const type = workEventType(work.kind, row.status);
  if (type === undefined) return undefined;
  const data: EventData = {
    status: row.status,
    ...ownEventData(work.kind, row),
    ...(KINDS[work.kind].esim !== 'none' && { esim_id: row.esimId }),
    failure_class: row.failureClass,
    attention_reason: row.attentionReason,
    // A cancellation is never charged; its refund has an event of its own.
    ...(KINDS[work.kind].isPurchase && { charged: plainMoney(row.chargedAmount, row.chargedCurrency) }),
  };
  return { type, subject: work, apiKeyId: row.apiKeyId, data, traceparent: row.traceparent };
}

/** Announces the present status of the refund of a cancellation, if there is one. */
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
  await runWrites(tx, [recordingStatusEvent(event, [], now)]);
}
