import { judgeObservation } from '#domain/observation.ts';
import { isFinal } from '#domain/order-lifecycle.ts';
import { latestAttempt, recordFacts, reportOtherPrice } from '#db/attempts.ts';
import { openCase } from '#db/cases.ts';
import type { Database, Executor } from '#db/database.ts';
import { assignToAttempt, inboxBodyPlace, lockMatch, markApplied, markUnmatched, type InboxMatch, type InboxRow } from '#db/inbox.ts';
import { addTimelineEntry } from '#db/timeline.ts';
import type { KeyRing } from '#crypto/key-ring.ts';
import { parseEvent, type OrderEvent } from '#upstream/event-parsing.ts';
import type { ServiceObservation } from '#workflows/messages.ts';

/** What is to be done with a row once its transaction has committed. */
export type Judgement =
  /** Nothing of ours is meant; the row waits. */
  | { readonly kind: 'unmatched' }
  /** It changed nothing, met finished work, or opened a case beside the order: all is written. */
  | { readonly kind: 'applied'; readonly contradiction: boolean }
  /** The workflow of the order is to be told. */
  | { readonly kind: 'tell'; readonly match: InboxMatch; readonly observation: ServiceObservation };

/**
 * Judges one row of the inbox, in one transaction: finds the attempt it speaks of, decides by the tables of the domain
 * what it means, and stores the service's facts with the attempt. A row that was judged before keeps its decision.
 */
export async function judgeRow(database: Database, keyRing: KeyRing, row: InboxRow, now: Date): Promise<Judgement> {
  return database.transaction(async (tx) => {
    const match = await lockMatch(tx, row);
    if (match === undefined) {
      await markUnmatched(tx, row.id);
      return { kind: 'unmatched' };
    }
    const event = readOrderEvent(keyRing, row);
    if (namesAnotherOrder(match, event) || namesAnotherAttempt(match, event)) {
      await assignToAttempt(tx, row.id, match, 'contradiction');
      await reportContradiction(tx, match, row, event, now);
      await markApplied(tx, [row.id], 'Its order and its reference do not belong together; a case is open.', now);
      return { kind: 'applied', contradiction: true };
    }
    const latest = await latestAttempt(tx, match.order.id);
    const work = {
      orderStatus: match.order.status,
      attemptState: match.attempt.state,
      latestAttempt: latest?.id === match.attempt.id,
    };
    const judged = judgeObservation(work, event.outcome);
    const decision = isFinal(match.order.status) ? judged : (row.decision ?? judged);
    await assignToAttempt(tx, row.id, match, decision);
    if (decision === 'advance') await storeFacts(tx, match, event, now);
    else await reportOtherPrice(tx, match.attempt, event.charged);

    if (decision === 'known') {
      await markApplied(tx, [row.id], `Known already: the attempt was ${match.attempt.state}.`, now);
      return { kind: 'applied', contradiction: false };
    }
    if (decision === 'contradiction') await reportContradiction(tx, match, row, event, now);
    if (isFinal(match.order.status)) {
      await markApplied(tx, [row.id], `Contradicts the end of the order (${match.order.status}); a case is open.`, now);
      return { kind: 'applied', contradiction: true };
    }
    const observation: ServiceObservation = {
      inboxId: String(row.id),
      source: row.source,
      attemptNumber: match.attempt.number,
      outcome: event.outcome,
      decision,
    };
    return { kind: 'tell', match, observation };
  });
}

/** It gave our reference, and an order that is not the one we know under it: the service may have bought twice. */
function namesAnotherOrder({ attempt }: InboxMatch, event: OrderEvent): boolean {
  return attempt.serviceOrderId !== null && attempt.serviceOrderId !== event.serviceOrderId;
}

/** It gave the order that we know of this attempt, and the reference of something else. */
function namesAnotherAttempt({ attempt }: InboxMatch, event: OrderEvent): boolean {
  return event.reference !== undefined && event.reference !== attempt.reference;
}

/** Only rows that were read as order events become pending, so anything else here means altered data. */
function readOrderEvent(keyRing: KeyRing, row: InboxRow): OrderEvent {
  const body = keyRing.open(row.sealedBody, inboxBodyPlace(row.deliveryId));
  const event = parseEvent(body, row.headerEvent ?? undefined);
  if (event.kind !== 'order') throw new Error(`inbox row ${row.id} is pending, but its body is ${event.kind}`);
  return event;
}

async function storeFacts(tx: Executor, match: InboxMatch, event: OrderEvent, now: Date): Promise<void> {
  const { outcome, serviceOrderId, serviceEsimId, charged } = event;
  await recordFacts(tx, match.attempt.id, { outcome, serviceOrderId, serviceEsimId, charged }, now);
}

async function reportContradiction(tx: Executor, match: InboxMatch, row: InboxRow, event: OrderEvent, now: Date): Promise<void> {
  const subject = { kind: 'order', id: match.order.id } as const;
  const detail =
    `The service says ${event.outcome} of attempt ${match.attempt.number} (its order ${event.serviceOrderId}), but the ` +
    `attempt was ${match.attempt.state} (${match.attempt.serviceOrderId ?? 'no order known'}) and the order ${match.order.status}.`;
  await openCase(tx, subject, 'contradiction', detail);
  await addTimelineEntry(tx, subject, { event: 'order.contradiction', message: detail, dedupKey: `inbox:${row.id}`, at: now });
}
