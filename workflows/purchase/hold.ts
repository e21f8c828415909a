import type { PurchasePolicy } from '#domain/policy/purchase-policy.ts';
import { equalWaits } from '#domain/retry/retry-rules.ts';
import { FAILURE_CLASSES } from '#domain/work/failure.ts';
import { readAttempt } from '#workflows/purchase/look-up.ts';
import type { Purchase } from '#workflows/purchase/purchase.ts';
import type { Step, StepNamed } from '#workflows/purchase/steps.ts';
import { WAIT_NAMES } from '#workflows/wait-names.ts';

/** The work provably bought nothing. It fails at its deadline. */
export async function hold(purchase: Purchase, step: StepNamed<'hold'>): Promise<Step> {
  const { run } = purchase;
  const { failure, gated, delayIsNamed = false } = step;
  const holdsBefore = purchase.holds;
  // Work that the gate stopped was not tried, so its waits do not grow.
  if (gated === undefined) purchase.holds += 1;
  run.heldFor = failure;
  const since = Date.now();
  const { meaning, advice } = FAILURE_CLASSES[failure];
  const detail = gated ?? run.attempt.failure?.detail ?? meaning;
  const [message, next] =
    gated === undefined
      ? [`Held: ${detail}`, `The same attempt is sent again. ${advice}`]
      : [
          `Held at the purchase gate: ${detail}`,
          `The gate releases held purchases afterwards, oldest first. ${advice}`,
        ];
  let { delayMs } = step;
  for (;;) {
    await purchase.continueAsNewIfLong({ ...step, delayMs: Math.max(1, since + delayMs - Date.now()) }, holdsBefore);
    const wakeAt = Math.min(since + delayMs, run.deadline);
    await run.record({
      status: 'held',
      message,
      failure: { class: failure, detail },
      nextStepAt: wakeAt,
      retryRule: run.configuredRule,
      next,
    });
    const { retryOverrides, rule } = run;
    const name = gated === undefined ? WAIT_NAMES.hold(failure, purchase.holds) : WAIT_NAMES.gate(failure);
    const woken = await run.wait(wakeAt - Date.now(), name);
    if (woken === 'observation') return purchase.takeReports();
    if (woken === 'time') {
      if (Date.now() < run.deadline) return { step: 'send' };
      const passed = `The deadline passed while the ${run.noun} was held: ${detail}`;
      return { step: 'fail', failure, detail: passed, endedBy: 'deadline_passed' };
    }
    const then = purchase.stepAfterAction({ step: 'send' });
    // A change of the retry rule alone does not end a hold, but it does send what the gate holds to the gate.
    const staysHeld = gated === undefined && then.step === 'send' && run.isOnlyRescheduled(retryOverrides, wakeAt);
    if (!staysHeld || !equalWaits(rule, run.rule)) {
      purchase.holds = staysHeld ? 1 : 0;
      // A time that the service named is kept.
      if (!delayIsNamed) delayMs = run.rule.firstDelayMs;
    }
    if (!staysHeld) return then;
  }
}

/** The reconciler reads for all work, but only this workflow can open a case when the service denies it. */
export async function waitForService(purchase: Purchase, { isDenied }: StepNamed<'await_service'>): Promise<Step> {
  const { run } = purchase;
  if (isDenied === true) return readAccepted(purchase);
  await run.goOn({ status: 'processing', ...purchase.rules.inProgress(run) });
  purchase.awaitedSince ??= Date.now();
  const until = purchase.awaitedSince + run.policy.silentDeadlineMs;
  const readAt = nextReadAt(purchase.awaitedSince, run.policy);
  const woken = await run.wait(Math.min(readAt, until) - Date.now(), WAIT_NAMES.service());
  if (woken === 'time' && Date.now() < until) return readAccepted(purchase);
  const isStillAwaited = woken === 'operator' && run.attempt.state === 'processing';
  if (!isStillAwaited) purchase.awaitedSince = undefined;
  if (woken === 'observation') return purchase.takeReports();
  // After an action the row decides: after a loss of commits it may not know the acceptance any more.
  return woken === 'time' ? { step: 'look_up', failure: 'timeout' } : purchase.nextStep();
}

/** The next of the doubling times since the acceptance, in epoch milliseconds. */
function nextReadAt(since: number, { deniedAfterMs }: Pick<PurchasePolicy, 'deniedAfterMs'>): number {
  let afterMs = deniedAfterMs;
  while (since + afterMs <= Date.now()) afterMs *= 2;
  return since + afterMs;
}

/**
 * A case opens when neither its id nor a complete list shows it. The service has accepted it, so it may have been
 * bought and never fails by this.
 */
async function readAccepted(purchase: Purchase): Promise<Step> {
  const { run } = purchase;
  const result = await readAttempt(purchase);
  if (result.kind === 'found') {
    purchase.unansweredReads = 0;
    await run.reload();
    return purchase.nextStep();
  }
  // No answer says nothing about the work.
  if (result.kind === 'unavailable' && run.attention === undefined) return { step: 'await_service' };
  const detail =
    result.kind === 'unavailable'
      ? `The service accepted it and did not know it later. ${result.failure.detail}`
      : 'The service accepted it, and now knows it neither by its id nor in its complete list. It may be bought.';
  return { step: 'retry_later', reason: 'outcome_unknown', detail, resume: 'await_service' };
}
