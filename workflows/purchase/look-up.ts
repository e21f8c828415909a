import { isLookUpRetried } from '#domain/policy/purchase-policy.ts';
import { backoffMs } from '#domain/policy/settings.ts';
import { afterAcceptance, isNeverResent } from '#domain/purchase/purchase-decision.ts';
import type { AbsenceResult, PurchaseLookUp } from '#domain/purchase/results.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import { orWhenGivenUp, readActivities } from '#workflows/options.ts';
import {
  attemptRef,
  nextStep,
  stepAfterAction,
  stepAfterReports,
  type Step,
  type StepNamed,
} from '#workflows/purchase/steps.ts';
import type { Run } from '#workflows/run/run.ts';
import { WAIT_NAMES } from '#workflows/wait-names.ts';

const NO_ANSWER = 'The service has not answered for a long time.';

/** For an attempt that may not be resent. One that is not listed needs the proof of its absence, or a case. */
export async function lookUp(run: Run, step: StepNamed<'look_up'>): Promise<Step> {
  const { failure } = step;
  const { lookUps, resendDelayMs, resendDelayMaxMs } = run.policy;
  for (let n = 1; ; n += 1) {
    showLookUp(run, step, n);
    const result = await readAttempt(run);
    const isLast = n >= lookUps;
    if (result.kind === 'found') {
      run.state.unansweredReads = 0;
      await run.read();
      const next = nextStep(run);
      if (next.step !== 'look_up') return next;
      // What was found changes nothing: a read may lag behind the event that caused this look-up.
      if (isLast) return afterFoundUnchanged(run, failure);
    } else if (result.kind === 'not_found') {
      run.state.unansweredReads = 0;
      if (isLast) return afterNotFound(run, failure);
    } else {
      const { detail } = result.failure;
      // A service that has not answered for long gets single look-ups.
      if (isLookUpRetried(result.failure.class) && (isLast || run.state.unansweredReads > 0))
        return { step: 'retry_later', reason: 'service_not_answering', detail, failure, resume: 'look_up' };
      if (isLast) return unknownCase(run, detail, failure);
    }
    const delayMs = backoffMs(resendDelayMs, resendDelayMaxMs, n);
    const woken = await run.wait(delayMs, WAIT_NAMES.lookUp(run.attempt.number));
    if (woken === 'observation') return stepAfterReports(run);
    if (woken === 'operator') return stepAfterAction(run, step);
  }
}

/**
 * The proof: a complete list without the attempt and a complete wallet without its debit, both read long enough after
 * the last send. A request may still be on its way, so the attempt stays unknown and is never bought anew. The same
 * bytes follow with the same key: a late request meets that key.
 */
export async function proveAbsence(run: Run, step: StepNamed<'prove_absence'>): Promise<Step> {
  const { failure } = step;
  // Evidence that is awaited has waited already.
  const isAwaited = run.state.awaited?.attempt === run.attempt.number;
  const woken = isAwaited ? 'time' : await run.wait(run.policy.settleDelayMs, WAIT_NAMES.absence(run.attempt.number));
  if (woken === 'observation') return stepAfterReports(run);
  if (woken === 'operator') {
    run.state.proofs = 0;
    return stepAfterAction(run, { step: 'look_up', failure });
  }
  const result = await readAbsence(run);
  if (result.kind === 'awaited') {
    const { kind: _kind, ...awaited } = result;
    return { step: 'await_evidence', failure, resume: 'prove_absence', ...awaited };
  }
  if (result.kind === 'unproven') {
    const { detail, mayPass } = result;
    if (mayPass)
      return { step: 'retry_later', reason: 'service_not_answering', detail, failure, resume: 'prove_absence' };
    return unknownCase(run, detail, failure);
  }
  run.state.unansweredReads = 0;
  run.state.awaited = undefined;
  await run.read();
  if (result.kind === 'changed') return nextStep(run);
  if (isOverdue(run)) return overdueCase(run, failure);
  run.state.proofs += 1;
  // At once: the service answers, and the resend window is open.
  return { step: 'send' };
}

function afterFoundUnchanged(run: Run, failure: FailureClass): Step {
  if (run.attempt.state === 'processing') return afterAcceptance('processing');
  return unknownCase(run, 'The service lists it, and what it says does not settle the outcome.', failure);
}

function afterNotFound(run: Run, failure: FailureClass): Step {
  const { proofs } = run.state;
  // Accepted, and denied now.
  if (run.attempt.state === 'processing') return { step: 'await_service', isDenied: true };
  if (isOverdue(run)) return overdueCase(run, failure);
  const detail = 'The service does not list it.';
  const mayBeSentAgain = run.policy.resendAllowed && !isNeverResent(failure) && !run.attempt.named;
  if (!mayBeSentAgain) return unknownCase(run, detail, failure);
  if (proofs === 0) return { step: 'prove_absence', failure, detail };
  // No send after the last proof was answered. A case says so, and each further proof waits longer.
  run.state.unansweredReads = proofs - 1;
  return {
    step: 'retry_later',
    reason: 'service_not_answering',
    detail: `${detail} No send has been answered since then.`,
    failure,
    resume: 'prove_absence',
  };
}

function isOverdue(run: Run): boolean {
  return Date.now() >= run.deadline;
}

/** It may not fail either: no failure was reported for the attempt, and a request may still arrive. */
function overdueCase(run: Run, failure: FailureClass): Step {
  const detail =
    'Its deadline passed while its outcome was unknown, and the service does not list it: nothing is sent again.';
  return unknownCase(run, detail, failure);
}

function unknownCase(run: Run, detail: string, failure: FailureClass): Step {
  const reason = run.state.witness?.isRestored === true ? 'records_lost' : 'outcome_unknown';
  return { step: 'open_case', reason, detail, failure };
}

function showLookUp(run: Run, { failure }: StepNamed<'look_up'>, n: number): void {
  // Work with an open case keeps its status during the look-up.
  const { attention, noun, policy } = run;
  run.show({
    status: attention === undefined ? 'submitting' : 'needs_attention',
    now: `The outcome of the ${noun} is unknown; it is being looked up at the service.`,
    next: `The answer of the service. If it does not know it, a case is opened (look-up ${n} of ${policy.lookUps}).`,
    failure,
    attention,
  });
}

export function readAttempt(run: Run): Promise<PurchaseLookUp> {
  const { lookUpPurchase } = readActivities(run.policy, `Look attempt ${run.attempt.number} up at the service`);
  const failure = { class: 'timeout', detail: NO_ANSWER } as const;
  return orWhenGivenUp(lookUpPurchase(attemptRef(run)), { kind: 'unavailable', failure });
}

function readAbsence(run: Run): Promise<AbsenceResult> {
  const { proveAbsence } = readActivities(run.policy, `Prove that attempt ${run.attempt.number} never arrived`);
  return orWhenGivenUp(proveAbsence(attemptRef(run)), { kind: 'unproven', mayPass: true, detail: NO_ANSWER });
}
