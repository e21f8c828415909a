import { eq } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { markApplied } from '#db/queues/inbox.ts';
import { attempts } from '#db/schema.ts';
import { attemptsOf, findAttempt, mayHaveCost } from '#db/work/attempts.ts';
import { hasOpenCase, openReasons } from '#db/work/cases.ts';
import { type WorkRow, lockUnfinishedWithEpoch } from '#db/work/rows.ts';
import type { TimelineEntry } from '#db/work/timeline.ts';
import type { Money } from '#domain/money/money.ts';
import type { RecordResult } from '#domain/purchase/purchase-decision.ts';
import type { StepRecord } from '#domain/purchase/results.ts';
import type { WhenUsedUp } from '#domain/retry/retry-rules.ts';
import { attemptStateAfter } from '#domain/work/attempt-lifecycle.ts';
import { JUDGED_BY_PERSONS, type AttentionReason } from '#domain/work/attention.ts';
import { KINDS, type WorkRef } from '#domain/work/kinds.ts';
import { ENDS_WITHOUT_EFFECT, isSuperseded } from '#domain/work/lifecycle.ts';
import { buyingBlock } from '#fulfilment/work/buying-block.ts';
import { changeWork, NOTHING_IN_THE_WAY } from '#fulfilment/work/change.ts';

type WorkStep = Pick<StepRecord, 'work' | 'status' | 'event' | 'message'> & Partial<StepRecord>;

/**
 * One transaction. A purchase fails only with the proof that it cost nothing: each attempt is refused, was never sent,
 * or is settled by one reading of the wallet for all (`readDebitEvidence`). Only `recorded` means a change.
 * @param whenUsedUp for a caller who has not chosen. @throws WorkFinishedError when it has ended; RangeError when the
 * status may not follow the present one.
 */
export async function recordStep(
  tx: Executor,
  step: WorkStep,
  now: Date,
  whenUsedUp: WhenUsedUp = 'fail',
): Promise<RecordResult> {
  const { work, task, status, attention, failure, applied = [] } = step;
  const { row, epoch } = await lockUnfinishedWithEpoch(tx, work);
  if (task !== undefined && row.recordedIn !== null && isSuperseded(task, row.recordedIn)) return 'superseded';
  if (task !== undefined && row.comparedEpoch !== epoch) return 'not_compared';
  if (attention?.reason === 'contradiction' && !(await hasOpenCase(tx, work, 'contradiction'))) {
    // The verdict answers these reports: left open, they would bar every further send.
    await markApplied(tx, applied, 'An operator resolved it.', now);
    return 'judged';
  }
  if (attention !== undefined && !(await isStillJudged(tx, step))) return 'changed';
  if (status === ENDS_WITHOUT_EFFECT[work.kind]) {
    const block = await buyingBlock(tx, work, applied);
    if (block !== undefined) return block;
    if ((await attemptsOf(tx, work)).some(mayHaveCost)) return 'may_be_bought';
    const isUsedUp = failure?.endedBy === 'attempts_used_up' && (row.whenUsedUp ?? whenUsedUp) === 'ask';
    const open = failure?.endedBy === undefined ? undefined : await openReasonToAsk(tx, work);
    if (open !== undefined || isUsedUp) return open ?? 'attempts_used_up';
  }
  const { event, message } = step;
  // The answer of the service has already written that a further attempt is in progress.
  const isInTimeline =
    KINDS[work.kind].isPurchase &&
    event === `${work.kind}.processing` &&
    row.status === 'processing' &&
    row.failureClass === null;
  const set = {
    failureClass: failure?.class ?? null,
    failureDetail: failure?.detail ?? null,
    serviceMessage: failure?.serviceMessage ?? null,
    failureEnd: failure?.endedBy ?? null,
    attentionReason: attention?.reason ?? null,
    nextStepAt: step.nextStepAt === undefined ? null : new Date(step.nextStepAt),
    ...(step.retryRule !== undefined && { retryRule: step.retryRule }),
    ...(task !== undefined && { recordedIn: task }),
  };
  const change = {
    set,
    status,
    entry: isInTimeline ? undefined : entryOf(step),
    attention,
    applied: { keys: applied, note: message },
  };
  await changeWork(tx, work, row, change, now);
  return 'recorded';
}

function entryOf({ event, message, stepKey, attemptNumber, failure, attention }: WorkStep): TimelineEntry {
  const detail = {
    ...(attemptNumber !== undefined && { attempt: attemptNumber }),
    ...(failure !== undefined && { failure_class: failure.class }),
    ...(attention !== undefined && { attention_reason: attention.reason }),
  };
  return { event, message, detail, ...(stepKey !== undefined && { dedupKey: stepKey }) };
}

/** The case may be about an attempt in one state only. False when the attempt has no row. */
async function isStillJudged(tx: Executor, { work, attemptNumber, attemptState }: WorkStep): Promise<boolean> {
  if (attemptState === undefined || attemptNumber === undefined) return true;
  return (await findAttempt(tx, work, attemptNumber))?.state === attemptState;
}

/** A quarantined report is a barrier of its own; a quarantined request to wake a workflow is not about money. */
const ASKS: ReadonlySet<AttentionReason> = new Set(
  JUDGED_BY_PERSONS.filter((reason) => reason !== 'message_quarantined'),
);

/** Why a person is asked although nothing was charged. */
async function openReasonToAsk(tx: Executor, work: WorkRef): Promise<AttentionReason | undefined> {
  return (await openReasons(tx, work)).find((reason) => ASKS.has(reason));
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

/** `row` is locked in this transaction and has not ended. */
export async function completeWork(
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
  const set = {
    ...NOTHING_IN_THE_WAY,
    ...(esimId !== undefined && { esimId }),
    completedAt: now,
    chargedAmount: charged?.amount ?? null,
    chargedCurrency: charged?.currency ?? null,
  };
  const change = {
    set,
    status,
    entry: { ...entry, event, dedupKey: event },
    applied: { keys: applied, note: entry.message },
  };
  await changeWork(tx, work, row, change, now);
}
