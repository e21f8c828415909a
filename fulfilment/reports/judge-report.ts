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
import { decideInboxRow, type NotifyingDecision } from '#domain/relay/relay-decision.ts';
import { KINDS } from '#domain/work/kinds.ts';
import { isFinal } from '#domain/work/lifecycle.ts';
import { recordReport, reportOtherPrice } from '#fulfilment/attempts/report.ts';
import { lockMatch, inContext, isBought, type InboxMatch } from '#fulfilment/reports/match-report.ts';
import { storeCancellationReport, storeEsimReport } from '#fulfilment/work/cancellation.ts';
import { openContradiction } from '#fulfilment/work/events.ts';

export type Judgement =
  /** The row waits. */
  | { readonly kind: 'unmatched' }
  /** Another relay or a workflow has settled or holds it; nothing was written. */
  | { readonly kind: 'left' }
  /** It changed nothing, or its work has ended. */
  | { readonly kind: 'applied'; readonly contradiction: boolean }
  | { readonly kind: 'signal'; readonly match: InboxMatch; readonly observation: ServiceObservation };

interface Matched {
  readonly row: InboxRow;
  readonly match: InboxMatch;
  readonly event: PurchaseEvent;
  /** Of the database, when the row was read under its lock. */
  readonly epoch: string;
}

export interface JudgeOptions {
  /** From now on. */
  readonly leaseMs: number;
  readonly encryptAccess: (workId: string, access: NonNullable<PurchaseEvent['access']>) => Buffer;
}

/** One transaction. The row is read again under its lock: another relay may have changed it. */
export async function judgeReport(
  database: Database,
  row: InboxRow,
  reported: PurchaseEvent,
  now: Date,
  options: JudgeOptions,
): Promise<Judgement> {
  return database.transaction(async (tx) => {
    const match = await lockMatch(tx, { ...reported, receivedAt: row.receivedAt });
    if (match === undefined) return withoutWork(tx, row, reported, now);
    const stored = await holdRow(tx, row);
    const { event, followUp, isNew } = await inContext(tx, match, reported);
    const judged = judge(match, event, followUp);
    const action = decideInboxRow(stored, judged, isFinal(match.row.status));
    if (action.kind === 'leave') return { kind: 'left' };
    const matched = { row, match, event, epoch: stored.epoch };
    const foreign = foreignTo(match, event);
    if (foreign !== undefined) return applyForeign(tx, matched, foreign, now);
    await storeFacts(tx, matched, action.decision, { ...options, isNew, now });
    return action.kind === 'apply'
      ? apply(tx, matched, action.decision, now)
      : signal(tx, matched, action.decision, options);
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

function judge(match: InboxMatch, event: PurchaseEvent, followUp: ObservationDecision): ObservationDecision {
  const work = { status: match.row.status, attemptState: match.attempt.state, latestAttempt: match.isCurrent };
  return judgeObservation(work, event.outcome, followUp);
}

async function applyForeign(
  tx: Executor,
  { row, match, event }: Matched,
  foreign: string,
  now: Date,
): Promise<Judgement> {
  await reportContradiction(tx, match, row, event, now);
  await settle(tx, { row, match, event }, 'contradiction', { note: `${foreign}; a case is open.`, appliedAt: now });
  return { kind: 'applied', contradiction: true };
}

async function settle(
  tx: Executor,
  { row, match, event: { outcome } }: Pick<Matched, 'row' | 'match' | 'event'>,
  decision: ObservationDecision,
  end: RowJudgement['end'],
): Promise<void> {
  const { work, attempt } = match;
  await storeJudgement(tx, row, { attemptId: attempt.id, work, decision, end });
  const { requestId, traceparent } = match.row;
  const about = { ...work, requestId, traceparent, attempt: attempt.number };
  noteFact(tx, { fact: 'report', ...about, inboxId: String(row.id), source: row.source, outcome, decision });
}

async function storeFacts(
  tx: Executor,
  { row, match, event }: Matched,
  decision: ObservationDecision,
  { isNew, encryptAccess, now }: Pick<JudgeOptions, 'encryptAccess'> & { readonly isNew: boolean; readonly now: Date },
): Promise<void> {
  const ended = isFinal(match.row.status);
  const isFilling = decision === 'known' && isNew && isBought(match);
  if (decision === 'advance' || isFilling) await storeReport(tx, match, event, { encryptAccess, now });
  // A report about a cancellation after its end is stored: a refund may be paid late. The attempt keeps its final
  // state.
  else if (ended && event.cancellation !== undefined)
    await storeCancellationReport(tx, match.work, event.cancellation, now);
  else await reportOtherPrice(tx, match.attempt, event.charged, now);
  if (decision === 'contradiction') await reportContradiction(tx, match, row, event, now);
}

async function apply(
  tx: Executor,
  { row, match, event }: Matched,
  decision: ObservationDecision,
  now: Date,
): Promise<Judgement> {
  const contradiction = decision !== 'known';
  const note = contradiction
    ? `Contradicts the end of the ${KINDS[match.work.kind].noun} (${match.row.status}); a case is open.`
    : `Known already: the attempt was ${match.attempt.state}.`;
  await settle(tx, { row, match, event }, decision, { note, appliedAt: now });
  return { kind: 'applied', contradiction };
}

async function signal(
  tx: Executor,
  { row, match, event, epoch }: Matched,
  decision: NotifyingDecision,
  end: { readonly leaseMs: number },
): Promise<Judgement> {
  await settle(tx, { row, match, event }, decision, end);
  const { source } = row;
  const { outcome } = event;
  const observation = { inboxId: inboxKey(row), epoch, source, attemptNumber: match.attempt.number, outcome, decision };
  return { kind: 'signal', match, observation };
}

/** @returns undefined when the event may belong to the attempt that it names. */
function foreignTo(match: InboxMatch, event: PurchaseEvent): string | undefined {
  if (namesAnotherPurchase(match, event) || namesAnotherAttempt(match, event))
    return 'Its id and its reference do not belong together';
  const ordered = match.orderedProduct ?? undefined;
  return isAsOrdered(ordered, event.productId) ? undefined : `It is of ${event.productId}, and ${ordered} was ordered`;
}

/** Our reference with another id than the known one: the service may have bought twice. */
function namesAnotherPurchase({ attempt }: InboxMatch, event: PurchaseEvent): boolean {
  return attempt.serviceId !== null && event.serviceId !== undefined && attempt.serviceId !== event.serviceId;
}

/** The known id of this attempt with another reference. */
function namesAnotherAttempt({ attempt }: InboxMatch, event: PurchaseEvent): boolean {
  return event.reference !== undefined && event.reference !== attempt.reference;
}

async function storeReport(
  tx: Executor,
  { attempt, work }: InboxMatch,
  event: PurchaseEvent,
  { encryptAccess, now }: Pick<JudgeOptions, 'encryptAccess'> & { readonly now: Date },
): Promise<void> {
  const { access } = event;
  const encryptedAccess = access === undefined ? undefined : encryptAccess(work.id, access);
  await recordReport(tx, attempt.id, { ...event, encryptedAccess }, now);
}

function refundText({ cancellation }: PurchaseEvent): string {
  return cancellation?.refund === undefined ? '' : `, with its refund ${cancellation.refund.state},`;
}

async function reportContradiction(
  tx: Executor,
  match: InboxMatch,
  row: InboxRow,
  event: PurchaseEvent,
  now: Date,
): Promise<void> {
  const {
    work,
    attempt,
    row: { status },
  } = match;
  const noun = KINDS[work.kind].noun;
  const detail =
    `The service reports ${event.outcome}${refundText(event)} for attempt ${attempt.number} (its ${noun} ` +
    `${event.serviceId ?? 'without an id'}), but the ` +
    `attempt was ${attempt.state} (${attempt.serviceId ?? `no ${noun} known`}) and the ${noun} ${status}.`;
  await openContradiction(tx, work, detail, now, attempt.id);
  await addTimelineEntry(tx, work, {
    event: `${work.kind}.contradiction`,
    message: detail,
    dedupKey: `inbox:${row.id}`,
    at: now,
  });
}
