import { and, eq, exists, ne, sql } from 'drizzle-orm';
import { noteFact } from '#db/connection/after-commit.ts';
import type { Executor } from '#db/connection/database.ts';
import { requestWake } from '#db/queues/outbox.ts';
import { attempts } from '#db/schema.ts';
import { findAttemptById } from '#db/work/attempts.ts';
import { type WorkRow, type AttemptRow, RowMissingError } from '#db/work/rows.ts';
import { addUnrepeatedEntry, type TimelineEntry } from '#db/work/timeline.ts';
import type { SendOutcome } from '#domain/purchase/purchase-decision.ts';
import type { Witness } from '#domain/purchase/recovery.ts';
import type { SendResult } from '#domain/purchase/results.ts';
import { afterAnswer } from '#domain/purchase/send-claim.ts';
import { isSettledByService, attemptStateAfter, type AttemptEvent } from '#domain/work/attempt-lifecycle.ts';
import { isDefinite, type FailureDetail } from '#domain/work/failure.ts';
import { KINDS, type WorkRef } from '#domain/work/kinds.ts';
import { mayFollow } from '#domain/work/lifecycle.ts';
import { doubtAttempt } from '#fulfilment/attempts/recover.ts';
import { belongsToAnother, type AttemptReport, applyReport } from '#fulfilment/attempts/report.ts';
import type { Reserved } from '#fulfilment/gate/account.ts';
import { changesNoCircuit } from '#fulfilment/gate/circuits.ts';
import { noteDrift } from '#fulfilment/gate/drift.ts';
import { attemptSnapshot, noteOf, type WorkDependencies } from '#fulfilment/purchase/handler.ts';
import { markInProgress } from '#fulfilment/work/change.ts';
import type { ServiceFailure, ServiceResult } from '#upstream/client/error-mapping.ts';

interface ClaimedSend {
  readonly work: WorkRef;
  /** The work as it is now, locked. */
  readonly current: WorkRow;
  /** As it was when the send was claimed. */
  readonly attempt: AttemptRow;
  readonly leaseToken: string;
  /** Undefined when nothing was to be sent. */
  readonly reserved: Reserved | undefined;
}

export interface RecordedSend {
  readonly result: SendResult;
  /** An answer about another purchase is a failure. */
  readonly answer: ServiceResult<AttemptReport>;
  readonly attempt: AttemptRow;
  /** It may change a circuit of the purchase gate. */
  readonly concernsGate: boolean;
}

type Stored = Omit<RecordedSend, 'result'>;

type Tools = Pick<WorkDependencies, 'sendLeaseMs' | 'now'>;

/** `answered` is by the service, or our own reason not to send. */
export async function recordSend(
  tx: Executor,
  tools: Tools,
  claimed: ClaimedSend,
  answered: ServiceResult<AttemptReport>,
): Promise<RecordedSend> {
  const stored = answered.ok
    ? await storeAcceptance(tx, tools, claimed, answered)
    : await storeFailure(tx, tools, claimed, answered);
  const { answer, attempt } = stored;
  const { work, current, attempt: sent } = claimed;
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
  const result: SendResult = {
    outcome: outcomeOf(attempt, answer),
    attempt: attemptSnapshot(attempt),
    ...(!answer.ok && { detail: answer.detail }),
  };
  return { result, ...stored };
}

async function storeAcceptance(
  tx: Executor,
  tools: Tools,
  claimed: ClaimedSend,
  answer: Extract<ServiceResult<AttemptReport>, { ok: true }>,
): Promise<Stored> {
  const { work, current, leaseToken } = claimed;
  const { attempt: locked, isTaken } = await lockAnsweredAttempt(tx, claimed.attempt, answer.value.serviceId);
  if (isTaken) {
    // It proves nothing about this attempt: the outcome of the send is unknown.
    const { detail } = belongsToAnother(claimed.attempt, answer.value);
    const { status } = answer;
    return storeFailure(tx, tools, claimed, { ok: false, kind: 'failure', failure: 'contract_drift', detail, status });
  }
  const answered = { work, current, attempt: locked, leaseToken };
  const entry = sentEntry(claimed.attempt, answer, claimed.reserved);
  const attempt = await recordAnswer(tx, answered, answer.value, new Date(tools.now()), entry);
  return { answer, attempt, concernsGate: !(await changesNoCircuit(tx, { work, evidence: { kind: 'accepted' } })) };
}

async function storeFailure(
  tx: Executor,
  { sendLeaseMs, now }: Tools,
  { work, current, attempt: claimed, leaseToken, reserved }: ClaimedSend,
  answer: ServiceFailure,
): Promise<Stored> {
  const recorded = await recordSendFailure(tx, claimed.id, leaseToken, noteOf(answer));
  const tools = { leaseMs: sendLeaseMs, busyEsimId: current.esimId };
  const attempt = await restoreLostClaim(tx, claimed, recorded, answer, tools);
  await addUnrepeatedEntry(tx, work, sentEntry(claimed, answer, reserved));
  if (answer.isOurs === true) await noteDrift(tx, attempt, answer.detail, now());
  return { answer, attempt, concernsGate: true };
}

/**
 * PostgreSQL has lost the claim during the send: the attempt becomes unknown, with the sends that this worker knows
 * of. `claimed` is the attempt at the claim, `after` the attempt now.
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
    const { differing = [] } = answer;
    const note = differing.length === 0 ? '' : ` It names ${differing.join(' and ')} in another form than was sent.`;
    const message = `The service answered attempt ${attempt.number}: ${outcome}.${note}`;
    return { event: 'attempt.accepted', message, detail: { ...detail, service_id: serviceId ?? null }, dedupKey };
  }
  const event = isDefinite(answer.failure) && !attempt.anyUnknown ? 'attempt.refused' : 'attempt.unknown';
  return { event, message: answer.detail, detail: { ...detail, failure_class: answer.failure }, dedupKey };
}

/** An event may have settled the attempt during the send. */
function outcomeOf(attempt: AttemptRow, answer: ServiceResult<AttemptReport>): SendOutcome {
  const { state } = attempt;
  if (state === 'processing' || state === 'completed' || state === 'failed')
    return { kind: 'accepted', outcome: state };
  if (answer.ok) throw new Error(`attempt ${attempt.id} was accepted, but is ${state}`);
  const { failure, retryAfterMs } = answer;
  return { kind: 'failure', failure, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

interface Answered {
  readonly work: WorkRef;
  /** Locked. */
  readonly current: WorkRow;
  /** Locked. */
  readonly attempt: AttemptRow;
  /** Undefined for a look-up. */
  readonly leaseToken?: string;
}

/** Wakes the workflow when the answer came too late for the step that waited for it. */
export async function recordAnswer(
  tx: Executor,
  { work, current, attempt: before, leaseToken }: Answered,
  facts: AttemptReport,
  now: Date,
  entry: TimelineEntry,
): Promise<AttemptRow> {
  const after = await applyReport(tx, before, facts, now);
  await addUnrepeatedEntry(tx, work, entry);
  const holdsLease = leaseToken === undefined || before.leaseToken === leaseToken;
  const { isInProgress, wakes } = afterAnswer({
    before: before.state,
    after: after.state,
    work: current.status,
    holdsLease,
  });
  // A subscription that has become active meanwhile does not go back to `processing`.
  if (isInProgress && mayFollow(work.kind, current.status, 'processing')) await markInProgress(tx, work, current, now);
  if (wakes) await requestWake(tx, work);
  return after;
}

interface AnsweredAttempt {
  /** Locked. */
  readonly attempt: AttemptRow;
  /** The service id of the answer belongs to another attempt of the kind. */
  readonly isTaken: boolean;
}

/**
 * One statement. The caller holds the lock of the work, so this lock does not wait and the rest is current. @throws
 * RowMissingError
 */
async function lockAnsweredAttempt(
  tx: Executor,
  { id, subjectKind }: Pick<AttemptRow, 'id' | 'subjectKind'>,
  serviceId: string | undefined,
): Promise<AnsweredAttempt> {
  const ofAnother = tx
    .select({ id: attempts.id })
    .from(attempts)
    .where(and(eq(attempts.subjectKind, subjectKind), eq(attempts.serviceId, serviceId ?? ''), ne(attempts.id, id)));
  const [locked] = await tx
    .select({ attempt: attempts, isTaken: sql<boolean>`${exists(ofAnother)}` })
    .from(attempts)
    .where(eq(attempts.id, id))
    .for('update');
  if (locked === undefined) throw new RowMissingError(`attempt ${id} does not exist in this database`);
  return { ...locked, isTaken: serviceId !== undefined && locked.isTaken };
}

/** Nothing changes when another send has taken the lease since. */
export async function recordSendFailure(
  tx: Executor,
  attemptId: string,
  leaseToken: string,
  failure: FailureDetail,
): Promise<AttemptRow> {
  const definite = isDefinite(failure.class);
  const [row] = await tx
    .update(attempts)
    .set({
      ...(definite ? REFUSED : { state: attemptStateAfter('sending', 'unproven'), anyUnknown: true }),
      failureClass: failure.class,
      failureDetail: failure.detail,
      serviceMessage: failure.serviceMessage ?? null,
      leaseToken: null,
      leaseUntil: null,
    })
    // When a later send or an event has settled the attempt, this result no longer matters.
    .where(and(eq(attempts.id, attemptId), eq(attempts.leaseToken, leaseToken), eq(attempts.state, 'sending')))
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
