import { equalWaits } from '#domain/retry/retry-rules.ts';
import { FAILURE_CLASSES } from '#domain/work/failure.ts';
import type { Purchase } from '#workflows/purchase/purchase.ts';
import type { Step, StepNamed } from '#workflows/purchase/steps.ts';
import { WAIT_NAMES } from '#workflows/wait-names.ts';

/**
 * Holds work that provably bought nothing, with growing waits or until the purchase gate wakes it. It fails at its
 * deadline.
 */
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
    // Ends early for a report, an operator's action, or a wake by the gate.
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
      // Something has changed: the waits start again with the shortest.
      purchase.holds = staysHeld ? 1 : 0;
      // A time that the service named is kept.
      if (!delayIsNamed) delayMs = run.rule.firstDelayMs;
    }
    if (!staysHeld) return then;
  }
}
