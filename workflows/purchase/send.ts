import { proxyActivities } from '@temporalio/workflow';
import type { SendOutcome } from '#domain/purchase/purchase-decision.ts';
import { hasLostRecords } from '#domain/purchase/recovery.ts';
import type { AttemptSnapshot, PurchaseActivities, SendResult, SendTerms } from '#domain/purchase/results.ts';
import { FAILURE_CLASSES, isDefiniteAnswer } from '#domain/work/failure.ts';
import { KINDS } from '#domain/work/kinds.ts';
import { PURCHASE_TASK_QUEUE } from '#workflows/messages.ts';
import { HEARTBEAT_TIMEOUT, isNotBegun, rethrowUnlessGivenUp, taskPosition } from '#workflows/options.ts';
import { barred, stalled } from '#workflows/purchase/cases.ts';
import { delivered } from '#workflows/purchase/deliver.ts';
import {
  attemptRef,
  nextStep,
  stepAfterReports,
  stepAfterSend,
  waitThen,
  type Step,
  type StepNamed,
} from '#workflows/purchase/steps.ts';
import type { Run } from '#workflows/run/run.ts';
import { WAIT_NAMES } from '#workflows/wait-names.ts';

/** Sends the stored bytes once. The same activity makes the delivery when the answer calls the purchase completed. */
export async function send(run: Run): Promise<Step> {
  if (run.hasReports) return stepAfterReports(run);
  if (Date.now() >= run.deadline && !run.attempt.history.anyUnknown)
    return { step: 'fail', failure: 'deadline_passed' };
  run.show({
    status: 'submitting',
    now: `Attempt ${run.attempt.number} is being sent to the service.`,
    next: 'The answer of the service.',
  });
  const result = await sendOnce(run);
  return result === undefined ? afterLostResult(run) : afterSend(run, result);
}

export async function afterSend(run: Run, result: SendResult): Promise<Step> {
  const { outcome } = result;
  if (outcome.kind === 'barred') return barred(run, outcome.by, { step: 'send' });
  // PostgreSQL has lost earlier sends, so this result proves nothing; or an earlier attempt has to be judged first.
  if (outcome.kind === 'records_lost' || outcome.kind === 'not_current' || knowsMoreThan(run, result.attempt)) {
    await run.read();
    return nextStep(run);
  }
  run.attempt = result.attempt;
  run.heldFor = undefined;
  if (outcome.kind === 'too_late' || outcome.kind === 'resend_not_allowed') {
    return { step: 'look_up', failure: run.attempt.failure?.class ?? 'worker_lost' };
  }
  run.state.stall = undefined;
  if (isAnswered(outcome)) run.state.proofs = 0;
  if (result.delivered !== undefined) return delivered(run, result.delivered);
  return stepAfterSend(run, outcome);
}

/**
 * One Temporal attempt: another send is a decision of the workflow, visible in its history. @returns undefined when
 * the result was lost.
 */
async function sendOnce(run: Run): Promise<SendResult | undefined> {
  const { attempt, snapshot } = run;
  const { number, history } = attempt;
  const { sendActivityTimeoutMs } = run.policy;
  const terms = sendTerms(run);
  const thenDeliver = terms.delivers === true ? `; if it is completed at once, read the ${run.rules.name}` : '';
  const { sendPurchase } = proxyActivities<Pick<PurchaseActivities, 'sendPurchase'>>({
    taskQueue: PURCHASE_TASK_QUEUE,
    startToCloseTimeout: sendActivityTimeoutMs,
    heartbeatTimeout: HEARTBEAT_TIMEOUT,
    retry: { maximumAttempts: 1 },
    summary: `Send attempt ${number}, send ${history.sends + 1}${thenDeliver}`,
  });
  const inEpoch = snapshot.epoch === undefined ? {} : { epoch: snapshot.epoch };
  run.state.pendingSend = { since: Date.now(), number, sends: history.sends, ...inEpoch };
  try {
    const result = await sendPurchase({ ...attemptRef(run), ...terms });
    run.state.pendingSend = undefined;
    return result;
  } catch (error) {
    rethrowUnlessGivenUp(error);
    // The activity itself reports that no request has left, whatever PostgreSQL has lost since.
    if (isNotBegun(error)) run.state.pendingSend = undefined;
    return undefined;
  }
}

export function sendTerms(run: Run): SendTerms {
  const { resendAllowed, resendWindowMs } = run.policy;
  const { witness } = run.state;
  return {
    task: taskPosition(),
    ...(resendAllowed && { resendWindowMs }),
    retryRule: run.configuredRule,
    ...(witness !== undefined && { witness }),
    ...(KINDS[run.work.kind].isPurchase && { delivers: true }),
  };
}

/** True when PostgreSQL has lost commits since. */
function knowsMoreThan({ state: { witness } }: Run, { number, state, history }: AttemptSnapshot): boolean {
  return hasLostRecords(witness, { number, state, sends: history.sends });
}

async function afterLostResult(run: Run): Promise<Step> {
  await run.read();
  const { state, number } = run.attempt;
  if (state !== 'prepared' && state !== 'refused') return nextStep(run);
  // The send never began. The waits grow, so that workers that fail at once are not called in a tight loop.
  const delayMs = await stalled(run, run.policy.resendDelayMs, 'Its sends fail before they begin.');
  if (run.attention === undefined) {
    run.show({
      status: 'submitting',
      now: `The send of attempt ${number} did not begin.`,
      next: 'It is tried again.',
      failure: 'worker_lost',
      nextStepAt: Date.now() + delayMs,
    });
  }
  return waitThen(run, delayMs, WAIT_NAMES.notBegun(number), { step: 'send' });
}

export async function waitToResend(run: Run, step: StepNamed<'resend'>): Promise<Step> {
  const { delayMs, gated } = step;
  const known = run.attempt.failure;
  const detail = known?.detail ?? FAILURE_CLASSES[step.failure].meaning;
  const atGate = gated === undefined ? '' : ' The purchase gate does not let it through yet.';
  // Callers need the failure of the last send. A closed gate says nothing about it.
  const failure = (gated === undefined ? undefined : known) ?? { class: step.failure, detail };
  await run.record({
    status: 'submitting',
    event: 'attempt.resend_planned',
    message: `Outcome unknown: ${detail} The same bytes are sent again with the same key.${atGate}`,
    failure,
    nextStepAt: Date.now() + delayMs,
    next: 'The same bytes are sent again with the same idempotency key.',
  });
  return waitThen(run, delayMs, WAIT_NAMES.resend(run.attempt.number, step.failure), { step: 'send' });
}

export async function waitForOtherSend(run: Run, { delayMs }: StepNamed<'wait_for_lease'>): Promise<Step> {
  return waitThen(run, delayMs, WAIT_NAMES.otherSend(), { step: 'send' });
}

/** False for a send that the gate, another send or we stopped. */
function isAnswered(outcome: SendOutcome): boolean {
  return outcome.kind === 'accepted' || (outcome.kind === 'failure' && isDefiniteAnswer(outcome.failure));
}
