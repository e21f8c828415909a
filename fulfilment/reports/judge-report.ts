import { noteFact } from '#db/connection/after-commit.ts';
import type { Database, Executor } from '#db/connection/database.ts';
import { inboxKey, type InboxRow } from '#db/queues/inbox.ts';
import { changeHeld, holdRow, storeJudgement, type RowJudgement } from '#db/queues/relay-queues.ts';
import { addTimelineEntry } from '#db/work/timeline.ts';
import {
  isAsOrdered,
  judgeObservation,
  type ObservationDecision,
  type PurchaseEvent,
  type ServiceObservation,
} from '#domain/relay/observation.ts';
import { decideInboxRow } from '#domain/relay/relay-decision.ts';
import { KINDS } from '#domain/work/kinds.ts';
import { isFinal } from '#domain/work/lifecycle.ts';
import { applyReport, openCaseOfOtherPrice } from '#fulfilment/attempts/report.ts';
import { lockMatch, inContext, isBought, type InboxMatch } from '#fulfilment/reports/match-report.ts';
import { storeCancellationReport, storeEsimReport } from '#fulfilment/work/cancellation.ts';
import { openContradiction } from '#fulfilment/work/events.ts';

type Judgement =
  /** The row waits. */
  | { readonly kind: 'unmatched' }
  /** Another relay or a workflow has settled or holds it; nothing was written. */
  | { readonly kind: 'left' }
  /** It changed nothing, or its work has ended. */
  | { readonly kind: 'applied'; readonly contradiction: boolean }
  | { readonly kind: 'signal'; readonly match: InboxMatch; readonly observation: ServiceObservation };

/**
 * One transaction. The row is read again under its lock: another relay may have changed it. `leaseMs`: of the row, from
 * now on.
 */
export async function judgeReport(
  database: Database,
  row: InboxRow,
  reported: PurchaseEvent,
  now: Date,
  leaseMs: number,
  encryptAccess: (workId: string, access: NonNullable<PurchaseEvent['access']>) => Buffer,
): Promise<Judgement> {
  return database.transaction(async (tx) => {
    const match = await lockMatch(tx, reported, row.receivedAt);
    if (match === undefined) return withoutWork(tx, row, reported, now);
    const { work, attempt } = match;
    const { status } = match.row;
    const stored = await holdRow(tx, row);
    const { event, followUp, isNew } = await inContext(tx, match, reported);
    const judged = judgeObservation(
      { status, attemptState: attempt.state, latestAttempt: match.isCurrent },
      event.outcome,
      followUp,
    );
    const action = decideInboxRow(stored, judged, isFinal(status));
    if (action.kind === 'leave') return { kind: 'left' };

    const foreign = foreignTo(match, event);
    if (foreign !== undefined) {
      await openCaseOfContradiction(tx, match, row, event, now);
      await settle(tx, row, match, event, 'contradiction', { note: `${foreign}; a case is open.`, appliedAt: now });
      return { kind: 'applied', contradiction: true };
    }

    const { decision } = action;
    const fillsBought = decision === 'known' && isNew && isBought(match);
    if (decision === 'advance' || fillsBought) {
      const encryptedAccess = event.access === undefined ? undefined : encryptAccess(work.id, event.access);
      await applyReport(tx, attempt, { ...event, encryptedAccess }, now);
      // A report about a cancellation after its end is stored: a refund may be paid late. The attempt keeps its final
      // state.
    } else if (isFinal(status) && event.cancellation !== undefined)
      await storeCancellationReport(tx, work, event.cancellation, now);
    else await openCaseOfOtherPrice(tx, attempt, event.charged, now);
    // Judged again, it may have been resolved.
    if (decision === 'contradiction' && stored.decision !== 'contradiction')
      await openCaseOfContradiction(tx, match, row, event, now);

    if (action.kind === 'apply') {
      const contradiction = decision !== 'known';
      const note = contradiction
        ? `Contradicts the end of the ${KINDS[work.kind].noun} (${status}); a case is open.`
        : `Known already: the attempt was ${attempt.state}.`;
      await settle(tx, row, match, event, decision, { note, appliedAt: now });
      return { kind: 'applied', contradiction };
    }
    await settle(tx, row, match, event, decision, { leaseMs });
    const observation = {
      inboxId: inboxKey(row),
      epoch: stored.epoch,
      source: row.source,
      attemptNumber: attempt.number,
      outcome: event.outcome,
      decision: action.decision,
    };
    return { kind: 'signal', match, observation };
  });
}

/** The service may have acted by itself on an eSIM of ours. */
async function withoutWork(tx: Executor, row: InboxRow, event: PurchaseEvent, now: Date): Promise<Judgement> {
  const stored = await storeEsimReport(tx, event, now);
  if (stored === undefined) {
    // It comes again when an id or reference that it names is stored.
    await changeHeld(tx, row, { state: 'unmatched' });
    return { kind: 'unmatched' };
  }
  const { order, note } = stored;
  const about = { subjectKind: order.kind, subjectId: order.id };
  await changeHeld(tx, row, { state: 'applied', decision: 'known', note, appliedAt: now, ...about });
  return { kind: 'applied', contradiction: false };
}

async function settle(
  tx: Executor,
  row: InboxRow,
  { work, attempt, row: { requestId, traceparent } }: InboxMatch,
  { outcome }: PurchaseEvent,
  decision: ObservationDecision,
  end: RowJudgement['end'],
): Promise<void> {
  await storeJudgement(tx, row, { attemptId: attempt.id, work, decision, end });
  const about = { ...work, requestId, traceparent, attempt: attempt.number };
  noteFact(tx, { fact: 'report', ...about, inboxId: String(row.id), source: row.source, outcome, decision });
}

/** @returns undefined when the event may belong to the attempt that it names. */
function foreignTo({ attempt, orderedProduct }: InboxMatch, event: PurchaseEvent): string | undefined {
  const { serviceId, reference, productId } = event;
  // Our reference with another id than the known one: the service may have bought twice.
  const isOtherPurchase = attempt.serviceId !== null && serviceId !== undefined && attempt.serviceId !== serviceId;
  const isOtherAttempt = reference !== undefined && reference !== attempt.reference;
  if (isOtherPurchase || isOtherAttempt) return 'Its id and its reference do not belong together';
  const ordered = orderedProduct ?? undefined;
  return isAsOrdered(ordered, productId) ? undefined : `It is of ${productId}, and ${ordered} was ordered`;
}

async function openCaseOfContradiction(
  tx: Executor,
  { work, attempt, row: { status } }: InboxMatch,
  row: InboxRow,
  { outcome, serviceId, cancellation }: PurchaseEvent,
  now: Date,
): Promise<void> {
  const { noun } = KINDS[work.kind];
  const refund = cancellation?.refund === undefined ? '' : `, with its refund ${cancellation.refund.state},`;
  const detail =
    `The service reports ${outcome}${refund} for attempt ${attempt.number} (its ${noun} ` +
    `${serviceId ?? 'without an id'}), but the ` +
    `attempt was ${attempt.state} (${attempt.serviceId ?? `no ${noun} known`}) and the ${noun} ${status}.`;
  await openContradiction(tx, work, detail, now, attempt.id);
  await addTimelineEntry(tx, work, {
    event: `${work.kind}.contradiction`,
    message: detail,
    dedupKey: `inbox:${row.id}`,
    at: now,
  });
}
