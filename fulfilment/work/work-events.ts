/** Announces statuses of work and refunds. */
import { eq, sql } from 'drizzle-orm';
import { builtOnce } from '#db/connection/built-once.ts';
import type { Executor } from '#db/connection/database.ts';
import { latestStatusEvent, recordEvent, type NewEvent } from '#db/events/event-log.ts';
import { cancellations, refunds } from '#db/schema.ts';
import type { EventData } from '#db/schema/events.ts';
import { ownEventData, workTable } from '#db/work/kinds.ts';
import { workEventType } from '#domain/events/event-types.ts';
import { plainMoney } from '#domain/money/money.ts';
import { eachKind, KINDS, type WorkKind, type WorkRef } from '#domain/work/kinds.ts';

/** By kind, the read that {@link announceWork} makes at each step of each piece of work. */
const readStatusEvent = eachKind(statusEventOf);

function statusEventOf(kind: WorkKind) {
  return builtOnce((db) => selectStatusEvent(db, kind).prepare(`${kind}_status_event`));
}

function selectStatusEvent(db: Executor, kind: WorkKind) {
  const table = workTable(kind);
  return db
    .select(statusEventColumns(kind))
    .from(table)
    .where(eq(table.id, sql.placeholder('id')));
}

/** The fields of a status event as columns of the work row. */
function statusEventColumns(kind: WorkKind) {
  const { status, apiKeyId, esimId, failureClass, attentionReason, chargedAmount, chargedCurrency } = workTable(kind);
  return {
    status,
    apiKeyId,
    esimId,
    failureClass,
    attentionReason,
    chargedAmount,
    chargedCurrency,
    own: ownEventData(kind),
  };
}

/** Work as {@link statusEventColumns} show it. */
export type StatusEventFields = Awaited<ReturnType<typeof selectStatusEvent>>[number];

/**
 * Announces the present status of work, unless it was announced last: work that is held again for the same reason was
 * held all the time.
 */
export async function announceWork(tx: Executor, work: WorkRef, now: Date): Promise<void> {
  const [row] = await readStatusEvent[work.kind](tx, { id: work.id });
  const event = row && statusEvent(work, row);
  if (event !== undefined) await announceIfChanged(tx, event, ['failure_class', 'attention_reason'], now);
}

/** The event of newly accepted work, which has no earlier one. @throws Error for another status. */
export function acceptedEvent(work: WorkRef, row: StatusEventFields): NewEvent {
  const event = row.status === 'accepted' ? statusEvent(work, row) : undefined;
  if (event === undefined) throw new Error(`new work has the status ${row.status}`);
  return afterStatus(event, null);
}

function statusEvent(work: WorkRef, row: StatusEventFields): NewEvent | undefined {
  const type = workEventType(work.kind, row.status);
  if (type === undefined) return undefined;
  const data: EventData = {
    status: row.status,
    ...row.own,
    ...(KINDS[work.kind].esim !== 'none' && { esim_id: row.esimId }),
    failure_class: row.failureClass,
    attention_reason: row.attentionReason,
    // A cancellation is never charged; its refund has an event of its own.
    ...(KINDS[work.kind].isPurchase && { charged: plainMoney(row.chargedAmount, row.chargedCurrency) }),
  };
  return { type, subject: work, apiKeyId: row.apiKeyId, data };
}

/** Announces the present status of the refund of a cancellation, if there is one. */
export async function announceRefund(tx: Executor, cancellationId: string, now: Date): Promise<void> {
  const [row] = await tx
    .select({ refund: refunds, apiKeyId: cancellations.apiKeyId })
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
  await announceIfChanged(
    tx,
    { type: `refund.${status}`, subject: { kind: 'refund', id }, apiKeyId: row.apiKeyId, data },
    [],
    now,
  );
}

/** @param reasons fields that, beside the type, distinguish the event from the last one. */
async function announceIfChanged(tx: Executor, event: NewEvent, reasons: readonly string[], now: Date): Promise<void> {
  const last = await latestStatusEvent(tx, event.subject);
  if (last?.type === event.type && reasons.every((name) => last.data[name] === event.data[name])) return;
  await recordEvent(tx, afterStatus(event, last?.data['status'] ?? null), now);
}

/** A status event with the status before it; null: none. */
function afterStatus(event: NewEvent, previous: EventData[string]): NewEvent {
  const { status, ...facts } = event.data;
  return { ...event, data: { status: status ?? null, previous_status: previous, ...facts } };
}
