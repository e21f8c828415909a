import { findTakenServiceId } from '#activities/evidence/look-up.ts';
import { recordAnswer } from '#activities/sending/record-answer.ts';
import { attemptSnapshot, noteOf, type WorkDependencies } from '#activities/work/work-dependencies.ts';
import type { SendResult } from '#activities/work/work-types.ts';
import type { Executor } from '#db/connection/database.ts';
import type { WorkRow } from '#db/work/kinds.ts';
import type { AttemptRow } from '#db/work/rows.ts';
import { addTimelineEntry } from '#db/work/timeline.ts';
import type { SendOutcome } from '#domain/purchase/purchase-decision.ts';
import type { Witness } from '#domain/purchase/restored-records.ts';
import { isSettledByService } from '#domain/work/attempt-lifecycle.ts';
import { isDefinite } from '#domain/work/failure.ts';
import { KINDS, type WorkRef } from '#domain/work/kinds.ts';
import type { AttemptReport } from '#fulfilment/attempts/record-report.ts';
import { recordSendFailure } from '#fulfilment/attempts/record-send-failure.ts';
import { doubtAttempt } from '#fulfilment/attempts/restored-attempts.ts';
import type { Reserved } from '#fulfilment/gate/reservations.ts';
import type { ServiceFailure, ServiceResult } from '#upstream/client/error-mapping.ts';

/** A send that was claimed. */
interface ClaimedSend {
  readonly work: WorkRef;
  /** The work as it is now, locked. */
  readonly current: WorkRow;
  /** The attempt as it was when the send was claimed. */
  readonly attempt: AttemptRow;
  readonly leaseToken: string;
  /** How money was reserved; undefined when nothing was to be sent. */
  readonly reserved: Reserved | undefined;
}

/**
 * Stores the answer of a claimed send, with a timeline entry.
 *
 * @param answered by the service, or our own reason not to send.
 * @returns the result of the activity, and the answer as it was judged: one about another purchase is a failure.
 */
export async function recordSend(
  tx: Executor,
  { sendLeaseMs, now }: Pick<WorkDependencies, 'sendLeaseMs' | 'now'>,
  { work, current, attempt, leaseToken, reserved }: ClaimedSend,
  answered: ServiceResult<AttemptReport>,
): Promise<{ readonly result: SendResult; readonly answer: ServiceResult<AttemptReport> }> {
  const answer = await rejectOfAnother(tx, attempt, answered);
  let after: AttemptRow;
  if (answer.ok) {
    after = await recordAnswer(tx, { work, current, attemptId: attempt.id, leaseToken }, answer.value, new Date(now()));
  } else {
    const recorded = await recordSendFailure(tx, attempt.id, leaseToken, noteOf(answer));
    const tools = { leaseMs: sendLeaseMs, busyEsimId: current.esimId };
    after = await restoreLostClaim(tx, attempt, recorded, answer, tools);
  }
  await addTimelineEntry(tx, work, sentEntry(attempt, answer, reserved));
  const result: SendResult = {
    outcome: outcomeOf(after, answer),
    attempt: attemptSnapshot(after),
    ...(!answer.ok && { detail: answer.detail }),
  };
  return { result, answer };
}

/** An answer whose service id belongs to another attempt proves nothing about this one: its outcome is unknown. */
async function rejectOfAnother(
  tx: Executor,
  attempt: AttemptRow,
  answer: ServiceResult<AttemptReport>,
): Promise<ServiceResult<AttemptReport>> {
  if (!answer.ok) return answer;
  const notOurs = await findTakenServiceId(tx, attempt, answer.value);
  if (notOurs === undefined) return answer;
  return { ok: false, kind: 'failure', failure: 'contract_drift', detail: notOurs.detail, status: answer.status };
}

/**
 * Restores the claim of a send that may have bought, when PostgreSQL has lost it during the send: the attempt becomes
 * unknown, with the sends that this worker knows of.
 *
 * @param claimed the attempt as it was when the send was claimed.
 * @param after the attempt as it is now.
 */
async function restoreLostClaim(
  tx: Executor,
  claimed: AttemptRow,
  after: AttemptRow,
  { failure }: ServiceFailure,
  tools: { readonly leaseMs: number; readonly busyEsimId: string | null },
): Promise<AttemptRow> {
  if (isDefinite(failure) && !claimed.anyUnknown) return after;
  if (isSettledByService(after.state) || (after.anyUnknown && after.sends >= claimed.sends)) return after;
  const { number, sends, firstSentAt, firstUnrefusedSendAt } = claimed;
  const witness: Witness = {
    number,
    state: 'unknown',
    sends,
    anyUnknown: true,
    ...(firstSentAt !== null && { firstSentAt: firstSentAt.getTime() }),
    ...(firstUnrefusedSendAt !== null && { firstUnrefusedSendAt: firstUnrefusedSendAt.getTime() }),
  };
  const busyEsimId = KINDS[claimed.subjectKind].esim === 'existing' ? tools.busyEsimId : null;
  return doubtAttempt(tx, after, witness, { ...tools, busyEsimId });
}

function sentEntry(attempt: AttemptRow, answer: ServiceResult<AttemptReport>, reserved: Reserved | undefined) {
  const detail = {
    attempt: attempt.number,
    send: attempt.sends,
    ...(reserved !== undefined && { reservation: reserved }),
  };
  const dedupKey = `send:${attempt.number}:${attempt.sends}`;
  if (answer.ok) {
    const { outcome, serviceId } = answer.value;
    const message = `The service answered attempt ${attempt.number}: ${outcome}.`;
    return { event: 'attempt.accepted', message, detail: { ...detail, service_id: serviceId ?? null }, dedupKey };
  }
  const event = isDefinite(answer.failure) && !attempt.anyUnknown ? 'attempt.refused' : 'attempt.unknown';
  return { event, message: answer.detail, detail: { ...detail, failure_class: answer.failure }, dedupKey };
}

/** The outcome of the send by the attempt's present state: an event may have settled it during the send. */
function outcomeOf(attempt: AttemptRow, answer: ServiceResult<AttemptReport>): SendOutcome {
  const { state } = attempt;
  if (state === 'processing' || state === 'completed' || state === 'failed')
    return { kind: 'accepted', outcome: state };
  if (answer.ok) throw new Error(`attempt ${attempt.id} was accepted, but is ${state}`);
  const { failure, retryAfterMs } = answer;
  return { kind: 'failure', failure, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}
