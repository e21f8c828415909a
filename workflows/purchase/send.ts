import { proxyActivities } from '@temporalio/workflow';
import type { SendOutcome } from '#domain/purchase/purchase-decision.ts';
import type { PurchaseActivities, SendResult } from '#domain/purchase/results.ts';
import { FAILURE_CLASSES, isDefiniteAnswer } from '#domain/work/failure.ts';
import { HEARTBEAT_TIMEOUT, isNotBegun, requireGivenUp } from '#workflows/activity-options.ts';
import { PURCHASE_TASK_QUEUE } from '#workflows/messages.ts';
import { barred, stalled } from '#workflows/purchase/cases.ts';
import { delivered, type Delivery } from '#workflows/purchase/deliver.ts';
import type { Purchase } from '#workflows/purchase/purchase.ts';
import type { Step, StepNamed } from '#workflows/purchase/steps.ts';
import { WAIT_NAMES } from '#workflows/wait-names.ts';
import { taskPosition } from '#workflows/work/work-records.ts';

/** Sends the stored bytes once. The same activity makes the delivery when the answer calls the purchase completed. */
export async function send(purchase: Purchase, delivery?: Delivery): Promise<Step> {
  const { run } = purchase;
  if (!run.observations.isEmpty) return purchase.takeReports();
  if (Date.now() >= run.deadline && !run.attempt.history.anyUnknown)
    return { step: 'fail', failure: 'deadline_passed' };
  run.show({
    status: 'submitting',
    now: `Attempt ${run.attempt.number} is being sent to the service.`,
    next: 'The answer of the service.',
  });
  const result = await sendOnce(purchase, delivery);
  if (result === undefined) return afterLostResult(purchase);

  const { outcome } = result;
  if (outcome.kind === 'barred') return barred(purchase, outcome.by, { step: 'send' });
  // PostgreSQL has lost the record of earlier sends: the result of this one proves nothing.
  if (outcome.kind === 'records_lost' || run.memory.knowsMoreThan(result.attempt)) {
    await run.reload();
    return purchase.nextStep();
  }
  run.attempt = result.attempt;
  if (outcome.kind === 'too_late' || outcome.kind === 'resend_not_allowed') {
    return { step: 'look_up', failure: run.attempt.failure?.class ?? 'worker_lost' };
  }
  purchase.stall = undefined;
  if (isAnswered(outcome)) purchase.proofs = 0;
  if (delivery !== undefined && result.delivered !== undefined) return delivered(purchase, delivery, result.delivered);
  return purchase.stepAfterSend(outcome);
}

/**
 * One Temporal attempt: another send is a decision of the workflow, visible in its history. @returns undefined when
 * the result was lost.
 */
async function sendOnce(
  { run, attemptRef }: Purchase,
  delivery: Delivery | undefined,
): Promise<SendResult | undefined> {
  const { memory, attempt, configuredRule: retryRule } = run;
  const { resendAllowed, resendWindowMs, sendActivityTimeoutMs } = run.policy;
  const thenDeliver = delivery === undefined ? '' : `; if it is completed at once, read the ${delivery.name}`;
  const { sendPurchase } = proxyActivities<Pick<PurchaseActivities, 'sendPurchase'>>({
    taskQueue: PURCHASE_TASK_QUEUE,
    startToCloseTimeout: sendActivityTimeoutMs,
    heartbeatTimeout: HEARTBEAT_TIMEOUT,
    retry: { maximumAttempts: 1 },
    summary: `Send attempt ${attempt.number}, send ${attempt.history.sends + 1}${thenDeliver}`,
  });
  memory.beginSend(attempt);
  try {
    const { witness } = memory;
    const result = await sendPurchase({
      ...attemptRef,
      task: taskPosition(),
      ...(resendAllowed && { resendWindowMs }),
      retryRule,
      ...(witness !== undefined && { witness }),
      ...(delivery !== undefined && { delivers: true }),
    });
    memory.endSend();
    return result;
  } catch (error) {
    requireGivenUp(error);
    // The activity itself reports that no request has left, whatever PostgreSQL has lost since.
    if (isNotBegun(error)) memory.endSend();
    return undefined;
  }
}

async function afterLostResult(purchase: Purchase): Promise<Step> {
  const { run } = purchase;
  await run.reload();
  const { state, number } = run.attempt;
  if (state !== 'prepared' && state !== 'refused') return purchase.nextStep();
  // The send never began. The waits grow, so that workers that fail at once are not called in a tight loop.
  const delayMs = await stalled(purchase, run.policy.resendDelayMs, 'Its sends fail before they begin.');
  if (run.attention === undefined) {
    run.show({
      status: 'submitting',
      now: `The send of attempt ${number} did not begin.`,
      next: 'It is tried again.',
      failure: 'worker_lost',
      nextStepAt: Date.now() + delayMs,
    });
  }
  return purchase.waitThen(delayMs, WAIT_NAMES.notBegun(number), { step: 'send' });
}

export async function waitToResend(purchase: Purchase, step: StepNamed<'resend'>): Promise<Step> {
  const { run } = purchase;
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
  return purchase.waitThen(delayMs, WAIT_NAMES.resend(run.attempt.number, step.failure), { step: 'send' });
}

export async function waitForOtherSend(purchase: Purchase, { delayMs }: StepNamed<'wait_for_lease'>): Promise<Step> {
  return purchase.waitThen(delayMs, WAIT_NAMES.otherSend(), { step: 'send' });
}

/** False for a send that the gate, another send or we stopped. */
function isAnswered(outcome: SendOutcome): boolean {
  return outcome.kind === 'accepted' || (outcome.kind === 'failure' && isDefiniteAnswer(outcome.failure));
}
