import { and, eq, sql } from 'drizzle-orm';
import { noteFact } from '#db/connection/after-commit.ts';
import type { Executor } from '#db/connection/database.ts';
import { requestWake } from '#db/queues/outbox.ts';
import { attempts } from '#db/schema.ts';
import { findAttemptById, lockAttempt, snapshotOf } from '#db/work/attempts.ts';
import type { WorkRow, AttemptRow } from '#db/work/rows.ts';
import { addUnrepeatedEntry, type TimelineEntry } from '#db/work/timeline.ts';
import type { SendOutcome } from '#domain/purchase/purchase-decision.ts';
import type { SendResult } from '#domain/purchase/results.ts';
import { afterAnswer } from '#domain/purchase/send-claim.ts';
import type { Report } from '#domain/relay/observation.ts';
import { attemptStateAfter, isKnownToService, type AttemptEvent } from '#domain/work/attempt-lifecycle.ts';
import { isDefinite, type FailureDetail } from '#domain/work/failure.ts';
import type { WorkRef } from '#domain/work/kinds.ts';
import { mayFollow } from '#domain/work/lifecycle.ts';
import { restoreLostClaim } from '#fulfilment/attempts/recover.ts';
import { applyReport, belongsToAnother, isTaken } from '#fulfilment/attempts/report.ts';
import { noteDrift } from '#fulfilment/gate/drift.ts';
import type { ClaimedSend } from '#fulfilment/purchase/claim.ts';
import type { WorkDependencies } from '#fulfilment/purchase/dependencies.ts';
import { failureNote, refusal } from '#fulfilment/purchase/offer.ts';
import { markInProgress } from '#fulfilment/work/change.ts';
import type { ServiceFailure, ServiceResult } from '#upstream/client/error-mapping.ts';

type Claimed = Pick<ClaimedSend, 'attempt' | 'reserved'>;

export interface RecordedSend {
  readonly result: SendResult;
  /** An answer about another purchase is a failure. */
  readonly answer: ServiceResult<Report>;
  readonly attempt: AttemptRow;
}

/** `answered` is by the service, or our own reason not to send. `current` is the work as it is now, locked. */
export async function recordSend(
  tx: Executor,
  dependencies: WorkDependencies,
  work: WorkRef,
  current: WorkRow,
  claimed: Claimed,
  answered: ServiceResult<Report>,
  /** What the service calls completed is delivered next, so it is never announced as in progress. */
  delivers = false,
): Promise<RecordedSend> {
  const { attempt: sent, reserved } = claimed;
  const now = new Date(dependencies.now());
  const answer = await aboutThis(tx, sent, answered);
  const entry = sentEntry(sent, answer, reserved);
  const attempt = answer.ok
    ? await recordAnswer(tx, {
        work,
        current,
        before: await lockAttempt(tx, sent.id),
        report: answer.value,
        now,
        entry,
        leaseToken: sent.leaseToken,
        delivers,
      })
    : await storeFailure(tx, dependencies, work, current, sent, answer, entry);
  noteFact(tx, {
    fact: 'send',
    ...work,
    requestId: current.requestId,
    traceparent: current.traceparent,
    attempt: sent.number,
    send: sent.sends,
    state: attempt.state,
    failureClass: answer.ok ? undefined : answer.failure,
  });
  const outcome = outcomeOf(attempt, answer);
  const result = { outcome, attempt: snapshotOf(attempt), ...(!answer.ok && { detail: answer.detail }) };
  return { result, answer, attempt };
}

/** An answer about another attempt proves nothing about this one: the outcome of the send is unknown. */
async function aboutThis(
  tx: Executor,
  sent: AttemptRow,
  answer: ServiceResult<Report>,
): Promise<ServiceResult<Report>> {
  if (!answer.ok || !(await isTaken(tx, sent, answer.value))) return answer;
  const { detail } = belongsToAnother(sent, answer.value);
  return { ...refusal('contract_drift', detail), status: answer.status };
}

async function storeFailure(
  tx: Executor,
  { sendLeaseMs, now }: WorkDependencies,
  work: WorkRef,
  { esimId }: WorkRow,
  sent: AttemptRow,
  answer: ServiceFailure,
  entry: TimelineEntry,
): Promise<AttemptRow> {
  const after = await recordSendFailure(tx, sent.id, sent.leaseToken, failureNote(answer));
  const attempt = await restoreLostClaim(tx, sent, after, answer.failure, { leaseMs: sendLeaseMs, esimId });
  await addUnrepeatedEntry(tx, work, entry);
  if (answer.isOurs === true) await noteDrift(tx, attempt, answer.detail, now());
  return attempt;
}

function sentEntry(
  attempt: AttemptRow,
  answer: ServiceResult<Report>,
  reserved: ClaimedSend['reserved'],
): TimelineEntry {
  const detail = {
    attempt: attempt.number,
    send: attempt.sends,
    ...(reserved !== undefined && { reservation: reserved }),
  };
  const dedupKey = `send:${attempt.number}:${attempt.sends}`;
  if (answer.ok) {
    const { outcome, serviceId } = answer.value;
    const { differing = [] } = answer;
    const note = differing.length === 0 ? '' : ` It names ${differing.join(' and ')} in another form than was sent.`;
    const message = `The service answered attempt ${attempt.number}: ${outcome}.${note}`;
    return { event: 'attempt.accepted', message, detail: { ...detail, service_id: serviceId ?? null }, dedupKey };
  }
  const event = isDefinite(answer.failure) && !attempt.anyUnknown ? 'attempt.refused' : 'attempt.unknown';
  return { event, message: answer.detail, detail: { ...detail, failure_class: answer.failure }, dedupKey };
}

/** An event may have settled the attempt during the send. */
function outcomeOf({ id, state }: AttemptRow, answer: ServiceResult<Report>): SendOutcome {
  if (isKnownToService(state)) return { kind: 'accepted', outcome: state };
  if (answer.ok) throw new Error(`attempt ${id} was accepted, but is ${state}`);
  const { failure, retryAfterMs } = answer;
  return { kind: 'failure', failure, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

/** Work (`current`) and attempt (`before`) are locked. */
interface AnswerToRecord {
  readonly work: WorkRef;
  readonly current: WorkRow;
  readonly before: AttemptRow;
  readonly report: Report;
  readonly now: Date;
  readonly entry: TimelineEntry;
  /** Of the send; absent for a look-up. */
  readonly leaseToken?: AttemptRow['leaseToken'];
  readonly delivers?: boolean;
}

/** Wakes the workflow when the answer came too late for the step that waited for it. */
export async function recordAnswer(
  tx: Executor,
  { work, current, before, report, now, entry, leaseToken = before.leaseToken, delivers = false }: AnswerToRecord,
): Promise<AttemptRow> {
  const after = await applyReport(tx, before, report, now);
  await addUnrepeatedEntry(tx, work, entry);
  const { isInProgress, wakes } = afterAnswer({
    before: before.state,
    after: after.state,
    work: current.status,
    holdsLease: before.leaseToken === leaseToken,
  });
  const isDeliveredNext = delivers && after.state === 'completed' && current.status === 'submitting';
  // A subscription that has become active meanwhile does not go back to `processing`.
  if (isInProgress && !isDeliveredNext && mayFollow(work.kind, current.status, 'processing'))
    await markInProgress(tx, work, current, now);
  if (wakes) await requestWake(tx, work);
  return after;
}

/** Nothing changes when another send has taken the lease since. */
export async function recordSendFailure(
  tx: Executor,
  attemptId: string,
  leaseToken: string | null,
  failure: FailureDetail,
): Promise<AttemptRow> {
  const [row] = await tx
    .update(attempts)
    .set({
      ...(isDefinite(failure.class) ? REFUSED : { state: attemptStateAfter('sending', 'unproven'), anyUnknown: true }),
      failureClass: failure.class,
      failureDetail: failure.detail,
      serviceMessage: failure.serviceMessage ?? null,
      leaseToken: null,
      leaseUntil: null,
    })
    // When a later send or an event has settled the attempt, this result no longer matters.
    .where(and(eq(attempts.id, attemptId), eq(attempts.leaseToken, leaseToken ?? ''), eq(attempts.state, 'sending')))
    .returning();
  return row ?? (await findAttemptById(tx, attemptId));
}

const refusedState = (event: AttemptEvent) => attemptStateAfter('sending', event);

/** When an earlier send may have bought, a refusal proves nothing, and the window of that send continues. */
const REFUSED = {
  state: sql`case when ${attempts.anyUnknown} then ${refusedState('refused_after_unknown')}
    else ${refusedState('refused')} end`,
  firstUnrefusedSendAt: sql`case when ${attempts.anyUnknown} then ${attempts.firstUnrefusedSendAt} end`,
  readingBefore: sql`case when ${attempts.anyUnknown} then ${attempts.readingBefore} end`,
  busyEsimId: sql`case when ${attempts.anyUnknown} then ${attempts.busyEsimId} end`,
};
