import { condition } from '@temporalio/workflow';
import { backoffMs } from '#domain/policy/settings.ts';
import type { BuyingBlock } from '#domain/purchase/purchase-decision.ts';
import type { AttemptSnapshot, WorkSnapshot } from '#domain/purchase/results.ts';
import type { AttentionReason } from '#domain/work/attention.ts';
import { FAILURE_CLASSES, type FailureClass } from '#domain/work/failure.ts';
import { ENDS_WITHOUT_EFFECT } from '#domain/work/lifecycle.ts';
import { nothingMore } from '#workflows/purchase/deliver.ts';
import {
  CONTRADICTION,
  failureOf,
  nextStep,
  stepAfterReports,
  waitThen,
  type Step,
  type StepNamed,
} from '#workflows/purchase/steps.ts';
import type { Run, WokenBy } from '#workflows/run/run.ts';
import { WAIT_NAMES } from '#workflows/wait-names.ts';

/** Cases that only a person's decision or retry closes. */
const UNTIL_DECIDED: ReadonlySet<AttentionReason> = new Set(['contradiction', 'cancellation_refused']);

/** A wait for a person has no end; the timer exists because a condition without one has no name in the history. */
const PERSON_WAIT = '365 days';

/** Unless PostgreSQL knows that it may have been bought or has an unjudged report. */
export async function fail(run: Run, step: StepNamed<'fail'>): Promise<Step> {
  const status = ENDS_WITHOUT_EFFECT[run.work.kind];
  const isLate = step.failure === 'deadline_passed';
  // The cause is why the service refused the last send, or failed the last attempt; without one it was never sent.
  const known = isLate && run.attempt.number > 1 ? failureOf(run, 'supplier_failed') : run.attempt.failure;
  const failure = (isLate ? known?.class : undefined) ?? step.failure;
  const endedBy = step.endedBy ?? (isLate ? 'deadline_passed' : undefined);
  // The attempt may have been refused before, for another reason.
  const itsOwn = known?.class === failure ? known.detail : FAILURE_CLASSES[failure].meaning;
  const detail = step.detail ?? (isLate && known ? `The deadline passed before it was sent again: ${itsOwn}` : itsOwn);
  const recorded = await run.record({
    status,
    message: `${run.rules.failed}: ${detail}`,
    failure: { class: failure, detail, ...(endedBy !== undefined && { endedBy }) },
    next: nothingMore(run),
  });
  if (recorded === 'recorded')
    return { step: 'end', end: { status, failure, ...(endedBy !== undefined && { endedBy }) } };
  if (recorded === 'may_be_bought' || recorded === 'judged' || recorded === 'changed') {
    await run.read();
    const { state, settled } = run.attempt;
    const isNoReason = state === 'prepared' || state === 'refused' || (state === 'failed' && settled);
    return recorded === 'may_be_bought' && isNoReason ? settleEarlier(run, failure) : nextStep(run);
  }
  if (recorded === 'observations_pending' || recorded === 'contradiction')
    return barred(run, recorded, { ...step, detail });
  const isOver = recorded === 'attempts_used_up';
  if (isOver && Date.now() >= run.deadline) return { ...step, detail, endedBy: 'deadline_passed' };
  return { step: 'open_case', reason: recorded, detail, failure, ...(isOver && { endsAtDeadline: true }) };
}

/**
 * An earlier attempt lost its proof of no cost, by a restore or a verdict. One reading is judged for all attempts,
 * once; then a person decides.
 */
export function settleEarlier(run: Run, failure: FailureClass): Step {
  const { attempt } = run;
  if (run.state.unsettledBefore === attempt.number) {
    const detail = 'An earlier attempt has no proof that it cost nothing.';
    return { step: 'open_case', reason: 'evidence_unavailable', detail, failure };
  }
  run.state.unsettledBefore = attempt.number;
  run.attempt = { ...attempt, settled: false };
  return { step: 'settle', failure };
}

/** A contradiction needs a person, an unjudged report needs the relay. `then` follows when no report comes in time. */
export async function barred(run: Run, by: BuyingBlock, then: Step): Promise<Step> {
  if (by === 'contradiction') return CONTRADICTION;
  const detail = 'A report of the service about it is not processed yet.';
  const delayMs = await stalled(run, run.policy.blockedRetryMs, detail);
  return waitThen(run, delayMs, WAIT_NAMES.unjudgedReport(), then);
}

/** Counts a try that failed because of ourselves; a case opens after a while. @returns the wait in milliseconds. */
export async function stalled(run: Run, firstMs: number, detail: string): Promise<number> {
  const { since, tries } = run.state.stall ?? { since: Date.now(), tries: 0 };
  run.state.stall = { since, tries: tries + 1 };
  const delayMs = backoffMs(firstMs, run.policy.blockedRetryMaxMs, tries + 1);
  if (Date.now() - since < run.policy.stalledAfterMs) return delayMs;
  const status = 'needs_attention';
  const message = `It has made no progress since ${new Date(since).toISOString()}: ${detail}`;
  const next = 'It is tried again automatically.';
  const nextStepAt = Date.now() + delayMs;
  const { attention, heldFor } = run;
  // A run that begins during the case knows the hold from it.
  const hold = heldFor && { failure: { class: heldFor, detail: FAILURE_CLASSES[heldFor].meaning } };
  if (attention === undefined)
    await run.record({ status, message, attention: { reason: 'stalled', detail }, ...hold, nextStepAt, next });
  else run.show({ status, now: message, next, attention, nextStepAt });
  return delayMs;
}

/** Waits grow. An operator's action or a report also ends a wait. */
export async function retryLater(run: Run, step: StepNamed<'retry_later'>): Promise<Step> {
  const { reason, detail } = step;
  const { failure: known, state: attemptState } = run.attempt;
  run.state.unansweredReads += 1;
  const delayMs = backoffMs(run.policy.lookUpAgainMs, run.policy.lookUpAgainMaxMs, run.state.unansweredReads);
  const wakeAt = Date.now() + delayMs;
  const failure = step.failure === undefined ? undefined : (known ?? { class: step.failure, detail });
  const recorded = await run.record({
    status: 'needs_attention',
    message: `Waits for the next look-up at the service. ${detail}`,
    attention: { reason, detail: `${detail} The next look-up is at ${new Date(wakeAt).toISOString()}.` },
    attemptState,
    ...(failure !== undefined && { failure }),
    nextStepAt: wakeAt,
    next: 'The look-up is repeated automatically; `retry` repeats it now.',
  });
  if (recorded === 'judged' || recorded === 'changed') {
    await run.read();
    return nextStep(run);
  }
  const waiting = run.snapshot;
  let woken = await run.wait(delayMs, WAIT_NAMES.notAnswered(reason));
  while (woken === 'operator' && isOnlyCompared(run, waiting, reason, wakeAt))
    woken = await run.wait(wakeAt - Date.now(), WAIT_NAMES.notAnswered(reason));
  if (woken === 'observation') return stepAfterReports(run);
  if (woken === 'operator') {
    run.state.proofs = 0;
    const next = nextStep(run);
    return next.step === 'await_service' && step.resume === 'await_service' ? { ...next, isDenied: true } : next;
  }
  // The row may know more by now, or less.
  const before = run.attempt;
  await run.read();
  if (!isSame(before, run.attempt)) return nextStep(run);
  return resumed(step, step.failure ?? known?.class ?? 'timeout');
}

function resumed({ resume, detail }: StepNamed<'retry_later'>, failure: FailureClass): Step {
  switch (resume) {
    case 'look_up':
      return { step: 'look_up', failure };
    case 'settle':
      return { step: 'settle', failure };
    case 'prove_absence':
      return { step: 'prove_absence', failure, detail };
    case 'deliver':
      return { step: 'deliver' };
    case 'await_service':
      return { step: 'await_service', isDenied: true };
  }
}

export async function openCase(run: Run, step: StepNamed<'open_case'>): Promise<Step> {
  const { reason, detail } = step;
  if (step.isRecorded !== true) {
    // An action that came meanwhile goes first. PostgreSQL knows whether a person has judged a contradiction.
    if (run.hasNewAction && reason !== 'contradiction') {
      await run.read();
      return nextStep(run);
    }
    const { failure: known, state: attemptState } = run.attempt;
    const failure = step.failure === undefined ? undefined : (known ?? { class: step.failure, detail });
    const recorded = await run.record({
      status: 'needs_attention',
      message: `Waits for a person: ${detail}`,
      attention: { reason, detail },
      ...(reason !== 'contradiction' && { attemptState }),
      ...(failure !== undefined && { failure }),
      next: 'A person decides, or the service reports more.',
    });
    if (recorded === 'judged' || recorded === 'changed') {
      await run.read();
      return nextStep(run);
    }
  }
  run.state.step = { ...step, isRecorded: true };
  const waiting = run.snapshot;
  const woken = await waitForPerson(run, reason, step.endsAtDeadline === true ? run.deadline : undefined);
  if (woken === 'operator' && isOnlyCompared(run, waiting, reason)) return { ...step, isRecorded: true };
  if (woken === 'time') {
    const passed = `The deadline passed, and nobody has decided: ${detail}`;
    return { step: 'fail', failure: step.failure ?? 'deadline_passed', detail: passed, endedBy: 'deadline_passed' };
  }
  return woken === 'observation' ? stepAfterReports(run) : nextStep(run);
}

/** True when the last read only compared the run with a restarted database. `wakeAt` is in epoch milliseconds. */
function isOnlyCompared({ snapshot }: Run, before: WorkSnapshot, reason: AttentionReason, wakeAt?: number): boolean {
  const { isFirstSinceRestart = false, attention, nextStepAt, attempt } = snapshot;
  if (!isFirstSinceRestart || attention !== reason || nextStepAt !== (wakeAt && Math.floor(wakeAt))) return false;
  const others = ({ attempt: { settled }, extraAttempts, retryOverrides, cancellation }: WorkSnapshot) =>
    JSON.stringify([settled, extraAttempts, retryOverrides, cancellation]);
  return isSame(before.attempt, attempt) && others(before) === others(snapshot);
}

function isSame(left: AttemptSnapshot, right: AttemptSnapshot): boolean {
  return (
    left.id === right.id &&
    left.state === right.state &&
    left.history.sends === right.history.sends &&
    left.named === right.named
  );
}

/** Other actions do not end it when only a verdict or a retry can close the case. `until` in epoch milliseconds. */
export async function waitForPerson(run: Run, reason: AttentionReason, until?: number): Promise<WokenBy> {
  for (;;) {
    await run.continueAsNewIfLong();
    const left = until === undefined ? PERSON_WAIT : Math.max(1, until - Date.now());
    const isWoken = await condition(() => run.hasNewAction || run.hasReports, left, {
      summary: WAIT_NAMES.person(reason),
    });
    if (!isWoken && until !== undefined) return 'time';
    if (!isWoken) continue;
    if (run.hasReports) return 'observation';
    await run.read();
    if (run.attention === undefined || !UNTIL_DECIDED.has(run.attention)) return 'operator';
  }
}
