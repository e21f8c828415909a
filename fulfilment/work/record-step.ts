import { and, eq, inArray, or } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { markApplied, returnUnanswered } from '#db/queues/inbox.ts';
import { requestWake } from '#db/queues/outbox.ts';
import { attempts } from '#db/schema.ts';
import { closeCase, closeCases, hasOpenCase, openCase, openReasons } from '#db/work/cases.ts';
import { workTable, type WorkRow, lockWorkInEpoch, lockUnfinishedWork } from '#db/work/rows.ts';
import { addUnrepeatedEntry, type TimelineEntry } from '#db/work/timeline.ts';
import type { Money } from '#domain/money/money.ts';
import type { RecordResult } from '#domain/purchase/purchase-decision.ts';
import type { AttemptState } from '#domain/relay/observation.ts';
import type { RetryRule, WhenUsedUp } from '#domain/retry/retry-rules.ts';
import { attemptStateAfter } from '#domain/work/attempt-lifecycle.ts';
import { JUDGED_BY_PERSONS, type AttentionReason } from '#domain/work/attention.ts';
import type { FailureClass, FailureDetail } from '#domain/work/failure.ts';
import { KINDS, WORK_KINDS, type WorkKind, type WorkRef } from '#domain/work/kinds.ts';
import {
  ENDS_WITHOUT_EFFECT,
  isFinal,
  mayFollow,
  type WorkStatus,
  isSuperseded,
  type TaskPosition,
} from '#domain/work/lifecycle.ts';
import { buyingBarrier } from '#fulfilment/work/buying-barrier.ts';
import { updateWork } from '#fulfilment/work/change.ts';

interface WorkStep {
  readonly status: WorkStatus;
  readonly entry: TimelineEntry;
  readonly failure?: FailureDetail | undefined;
  readonly attention?: { readonly reason: AttentionReason; readonly detail: string } | undefined;
  /** The case opens for this attempt and state only; undefined: for any. */
  readonly judged?: { readonly number: number; readonly state: AttemptState } | undefined;
  readonly nextStepAt?: Date | undefined;
  /** Undefined: unchanged. */
  readonly retryRule?: RetryRule | undefined;
  /** Undefined: no workflow decided it. */
  readonly task?: TaskPosition | undefined;
  readonly applied?: readonly string[] | undefined;
  /** When the caller has not chosen; absent: the work fails. */
  readonly whenUsedUp?: WhenUsedUp | undefined;
}

/**
 * One transaction. A purchase fails only with the proof that it cost nothing: each attempt is refused, was never sent,
 * or is settled by one reading of the wallet for all (`readDebitEvidence`). Only `recorded` means a change. @throws
 * WorkFinishedError when it has ended; RangeError when the status may not follow the present one.
 */
export async function recordStep(tx: Executor, work: WorkRef, step: WorkStep, now: Date): Promise<RecordResult> {
  const { row, epoch } = await lockWorkInEpoch(tx, work);
  const { task } = step;
  if (task !== undefined && row.recordedIn !== null && isSuperseded(task, row.recordedIn)) return 'superseded';
  if (task !== undefined && row.comparedEpoch !== epoch) return 'not_compared';
  if (step.attention?.reason === 'contradiction' && !(await hasOpenCase(tx, work, 'contradiction'))) {
    // The verdict answers these reports: left open, they would bar every further send.
    await markApplied(tx, step.applied ?? [], 'An operator resolved it.', now);
    return 'judged';
  }
  if (step.attention !== undefined && step.judged !== undefined && !(await isInState(tx, work, step.judged)))
    return 'changed';
  if (step.status === ENDS_WITHOUT_EFFECT[work.kind]) {
    const barrier = await buyingBarrier(tx, work, step.applied);
    if (barrier !== undefined) return barrier;
    if (await mayHaveCost(tx, work)) return 'may_be_bought';
    const reason = step.failure?.endedBy === undefined ? undefined : await reasonToAsk(tx, work, row, step);
    if (reason !== undefined) return reason;
  }
  await storeStep(tx, work, row, step, now);
  return 'recorded';
}

/** The work is locked and has not ended. @throws RangeError when the status may not follow the present one. */
async function storeStep(
  tx: Executor,
  work: WorkRef,
  row: WorkRow,
  step: WorkStep,
  now: Date,
  change: Partial<WorkRow> = {},
): Promise<void> {
  if (!mayFollow(work.kind, row.status, step.status)) {
    throw new RangeError(`${KINDS[work.kind].noun} ${work.id} cannot go from ${row.status} to ${step.status}`);
  }
  // Before the rows without an answer are returned.
  await markApplied(tx, step.applied ?? [], step.entry.message, now);
  // The answer of the service has told that a further attempt is in progress.
  const isTold =
    KINDS[work.kind].isPurchase &&
    step.entry.event === `${work.kind}.processing` &&
    row.status === 'processing' &&
    row.failureClass === null;
  const goesOn = step.attention === undefined && row.status === 'needs_attention';
  const changed = {
    ...change,
    status: step.status,
    failureClass: step.failure?.class ?? null,
    failureDetail: step.failure?.detail ?? null,
    serviceMessage: step.failure?.serviceMessage ?? null,
    failureEnd: step.failure?.endedBy ?? null,
    attentionReason: step.attention?.reason ?? null,
    nextStepAt: step.nextStepAt ?? null,
    ...(step.retryRule !== undefined && { retryRule: step.retryRule }),
    ...(step.task !== undefined && { recordedIn: step.task }),
    updatedAt: now,
  };
  await updateWork(tx, work, row, changed);
  if (!isTold) await addUnrepeatedEntry(tx, work, step.entry);
  if (goesOn) await closeCases(tx, work, step.entry.message, now);
  if (isFinal(step.status)) await returnUnanswered(tx, work);
  if (step.attention !== undefined) {
    await closePassed(tx, work, row, step, now);
    await openCase(tx, work, step.attention.reason, step.attention.detail);
  }
  // Nothing waits yet for an eSIM that this step delivers.
  if (isFinal(step.status) && row.esimId !== null) {
    for (const kind of WORK_KINDS.filter((each) => KINDS[each].esim === 'existing'))
      await wakeHeldOfEsim(tx, kind, row.esimId, 'esim_busy');
  }
}

/** Closes a case that passed by itself, when another case opens. */
async function closePassed(
  tx: Executor,
  work: WorkRef,
  { attentionReason }: WorkRow,
  { attention, entry }: WorkStep,
  now: Date,
): Promise<void> {
  const isPassed = attentionReason === 'service_not_answering' || attentionReason === 'stalled';
  if (isPassed && attention?.reason !== attentionReason) await closeCase(tx, work, attentionReason, entry.message, now);
}

/** `heldFor` undefined: for any reason. */
export async function wakeHeldOfEsim(
  tx: Executor,
  kind: WorkKind,
  esimId: string,
  heldFor?: FailureClass,
): Promise<void> {
  const table = workTable(kind);
  const isHeld = and(eq(table.esimId, esimId), eq(table.status, 'held'));
  const isFor = heldFor === undefined ? undefined : eq(table.failureClass, heldFor);
  for (const { id } of await tx.select({ id: table.id }).from(table).where(and(isHeld, isFor)))
    await requestWake(tx, { kind, id });
}

/** False when it has no row. */
async function isInState(
  tx: Executor,
  work: WorkRef,
  { number, state }: Required<WorkStep>['judged'] & object,
): Promise<boolean> {
  const isThat = and(eq(attempts.subjectKind, work.kind), eq(attempts.subjectId, work.id), eq(attempts.number, number));
  const [row] = await tx.select({ state: attempts.state }).from(attempts).where(isThat);
  return row?.state === state;
}

/** True while an attempt may have bought, or a failed purchase is not proven to have cost nothing. */
async function mayHaveCost(tx: Executor, { kind, id }: WorkRef): Promise<boolean> {
  const mayBeBought = inArray(attempts.state, ['sending', 'unknown', 'processing', 'completed']);
  const isUnproven = and(eq(attempts.state, 'failed'), eq(attempts.settled, false));
  const open = await tx
    .select({ id: attempts.id })
    .from(attempts)
    .where(
      and(
        eq(attempts.subjectKind, kind),
        eq(attempts.subjectId, id),
        // A cancellation costs nothing.
        KINDS[kind].isPurchase ? or(mayBeBought, isUnproven) : mayBeBought,
      ),
    )
    .limit(1);
  return open.length > 0;
}

/** A quarantined report is a barrier of its own; a quarantined request to wake a workflow is not about money. */
const ASKS: ReadonlySet<AttentionReason> = new Set(
  JUDGED_BY_PERSONS.filter((reason) => reason !== 'message_quarantined'),
);

/** Why a person is asked although nothing was charged. */
async function reasonToAsk(
  tx: Executor,
  work: WorkRef,
  row: WorkRow,
  { failure, whenUsedUp = 'fail' }: WorkStep,
): Promise<AttentionReason | undefined> {
  const open = (await openReasons(tx, work)).find((reason) => ASKS.has(reason));
  if (open !== undefined) return open;
  const asks = failure?.endedBy === 'attempts_used_up' && (row.whenUsedUp ?? whenUsedUp) === 'ask';
  return asks ? 'attempts_used_up' : undefined;
}

export interface Completion {
  readonly attemptId: string;
  /** `active` for subscriptions. */
  readonly status?: 'completed' | 'active';
  /** Absent when it is about no eSIM. */
  readonly esimId?: string;
  readonly charged: Money | undefined;
  readonly entry: Omit<TimelineEntry, 'event' | 'dedupKey'>;
  readonly applied: readonly string[];
}

/** One transaction. @throws WorkFinishedError when the work has ended. */
export async function completeWork(tx: Executor, work: WorkRef, completion: Completion, now: Date): Promise<void> {
  await completeLocked(tx, work, await lockUnfinishedWork(tx, work), completion, now);
}

/** As {@link completeWork}, for locked work that has not ended. */
export async function completeLocked(
  tx: Executor,
  work: WorkRef,
  row: WorkRow,
  { attemptId, status = 'completed', esimId, charged, entry, applied }: Completion,
  now: Date,
): Promise<void> {
  // A delivery leads to the same state from every state.
  const state = attemptStateAfter('completed', 'delivered');
  await tx.update(attempts).set({ state, busyEsimId: null, lastReportAt: now }).where(eq(attempts.id, attemptId));
  const event = `${work.kind}.${status}`;
  await storeStep(tx, work, row, { status, entry: { ...entry, event, dedupKey: event }, applied }, now, {
    ...(esimId !== undefined && { esimId }),
    completedAt: now,
    chargedAmount: charged?.amount ?? null,
    chargedCurrency: charged?.currency ?? null,
  });
}
