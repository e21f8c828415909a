import type { PurchasePolicy } from '#domain/policy/purchase-policy.ts';
import { equalOverrides, equalWaits, type RetryOverrides } from '#domain/retry/retry-rules.ts';
import { FAILURE_CLASSES } from '#domain/work/failure.ts';
import { readAttempt } from '#workflows/purchase/look-up.ts';
import { nextStep, stepAfterAction, stepAfterReports, type Step, type StepNamed } from '#workflows/purchase/steps.ts';
import type { Run } from '#workflows/run/run.ts';
import { WAIT_NAMES } from '#workflows/wait-names.ts';

/** The work provably bought nothing. It fails at its deadline. */
export async function hold(run: Run, step: StepNamed<'hold'>): Promise<Step> {
  const { failure, gated, delayIsNamed = false, isCounted = false } = step;
  // Work that the gate stopped was not tried, so its waits do not grow.
  if (gated === undefined && !isCounted) run.state.holds += 1;
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
    const leftMs = Math.max(1, since + delayMs - Date.now());
    await run.continueAsNewIfLong({ ...step, delayMs: leftMs, isCounted: true });
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
    const name = gated === undefined ? WAIT_NAMES.hold(failure, run.state.holds) : WAIT_NAMES.gate(failure);
    const woken = await run.wait(wakeAt - Date.now(), name);
    if (woken === 'observation') return stepAfterReports(run);
    if (woken === 'time') {
      if (Date.now() < run.deadline) return { step: 'send' };
      const passed = `The deadline passed while the ${run.noun} was held: ${detail}`;
      return { step: 'fail', failure, detail: passed, endedBy: 'deadline_passed' };
    }
    const then = stepAfterAction(run, { step: 'send' });
    // A change of the retry rule alone does not end a hold, but it does send what the gate holds to the gate.
    const staysHeld = gated === undefined && then.step === 'send' && isOnlyRescheduled(run, retryOverrides, wakeAt);
    if (!staysHeld || !equalWaits(rule, run.rule)) {
      run.state.holds = staysHeld ? 1 : 0;
      // A time that the service named is kept.
      if (!delayIsNamed) delayMs = run.rule.firstDelayMs;
    }
    if (!staysHeld) return then;
  }
}

/**
 * A change of the retry rule, or the comparison with a restarted database, ended the wait: the work must not continue
 * at once. `wakeAt` is in epoch milliseconds.
 */
export function isOnlyRescheduled({ snapshot, retryOverrides }: Run, before: RetryOverrides, wakeAt: number): boolean {
  const { isFirstSinceRestart = false, nextStepAt = 0 } = snapshot;
  return (isFirstSinceRestart || !equalOverrides(before, retryOverrides)) && nextStepAt >= Math.floor(wakeAt);
}

/** The reconciler reads for all work, but only this workflow can open a case when the service denies it. */
export async function waitForService(run: Run, { isDenied }: StepNamed<'await_service'>): Promise<Step> {
  if (isDenied === true) return readAccepted(run);
  await run.goOn({ status: 'processing', ...run.rules.inProgress(run) });
  run.state.awaitedSince ??= Date.now();
  const until = run.state.awaitedSince + run.policy.silentDeadlineMs;
  const readAt = nextReadAt(run.state.awaitedSince, run.policy);
  const woken = await run.wait(Math.min(readAt, until) - Date.now(), WAIT_NAMES.service());
  if (woken === 'time' && Date.now() < until) return readAccepted(run);
  const isStillAwaited = woken === 'operator' && run.attempt.state === 'processing';
  if (!isStillAwaited) run.state.awaitedSince = undefined;
  if (woken === 'observation') return stepAfterReports(run);
  // After an action the row decides: after a loss of commits it may not know the acceptance any more.
  return woken === 'time' ? { step: 'look_up', failure: 'timeout' } : nextStep(run);
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
async function readAccepted(run: Run): Promise<Step> {
  const result = await readAttempt(run);
  if (result.kind === 'found') {
    run.state.unansweredReads = 0;
    await run.read();
    return nextStep(run);
  }
  // No answer says nothing about the work.
  if (result.kind === 'unavailable' && run.attention === undefined) return { step: 'await_service' };
  const detail =
    result.kind === 'unavailable'
      ? `The service accepted it and did not know it later. ${result.failure.detail}`
      : 'The service accepted it, and now knows it neither by its id nor in its complete list. It may be bought.';
  return { step: 'retry_later', reason: 'outcome_unknown', detail, resume: 'await_service' };
}
