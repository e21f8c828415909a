import { backoffMs } from '#domain/policy/settings.ts';
import { KINDS } from '#domain/work/kinds.ts';
import { localActivities } from '#workflows/options.ts';
import { barred, settleEarlier } from '#workflows/purchase/cases.ts';
import { isOnlyRescheduled } from '#workflows/purchase/hold.ts';
import { failureOf, nextStep, stepAfterReports, type Step, type StepNamed } from '#workflows/purchase/steps.ts';
import type { Run } from '#workflows/run/run.ts';
import { WAIT_NAMES } from '#workflows/wait-names.ts';

export async function waitForNewAttempt(run: Run, step: StepNamed<'new_attempt'>): Promise<Step> {
  const { evidence } = step;
  const { number } = run.attempt;
  const failure = failureOf(run, 'supplier_failed');
  run.heldFor = 'supplier_failed';
  const since = Date.now();
  for (;;) {
    await run.continueAsNewIfLong(step);
    const { attempts, firstDelayMs, maxDelayMs } = run.rule;
    if (number >= attempts) return usedUp(run, attempts, evidence);
    const wakeAt = since + backoffMs(firstDelayMs, maxDelayMs, number);
    if (wakeAt >= run.deadline)
      return {
        step: 'fail',
        failure: failure.class,
        detail: `${failure.detail} ${evidence}`,
        endedBy: 'deadline_passed',
      };
    await run.record({
      status: 'held',
      message: `Attempt ${number} failed and cost nothing. ${evidence} A new attempt follows.`,
      failure,
      nextStepAt: wakeAt,
      retryRule: run.configuredRule,
      next: `Attempt ${number + 1} of at most ${attempts}.`,
    });
    const { retryOverrides } = run;
    const woken = await run.wait(wakeAt - Date.now(), WAIT_NAMES.nextAttempt(number + 1));
    if (woken === 'observation') return stepAfterReports(run);
    // An operator may have found that it was bought.
    if (run.attempt.state !== 'failed') return nextStep(run);
    // After a change of the retry rule it waits by the new rule, which may allow no further attempt.
    const waitsOn = woken === 'operator' && isOnlyRescheduled(run, retryOverrides, wakeAt);
    if (!waitsOn && number < run.rule.attempts) return { step: 'open_attempt', number: number + 1, evidence };
  }
}

/**
 * Stores key, reference and exact bytes. After a start of PostgreSQL the present attempt is compared with its row
 * first: the row may be lost.
 */
export async function openAttempt(run: Run, step: StepNamed<'open_attempt'>): Promise<Step> {
  const { number, evidence } = step;
  const opened = await localActivities(`Store key and body of attempt ${number}`).openNextAttempt({
    work: run.work,
    number,
  });
  if (opened.kind === 'not_compared') {
    await run.read();
    const { attempt } = run;
    return attempt.number === number - 1 && attempt.state === 'failed' && attempt.settled ? step : nextStep(run);
  }
  if (opened.kind === 'unsettled') {
    await run.read();
    const { state, failure } = run.attempt;
    if (state !== 'failed') return nextStep(run);
    return settleEarlier(run, failure?.class ?? 'supplier_failed');
  }
  if (opened.kind === 'barred') return barred(run, opened.by, step);
  if (opened.kind === 'not_allowed') return usedUp(run, opened.attempts, evidence);
  // Waits and cases of the attempt before do not count for this one.
  run.forget();
  run.attempt = opened.attempt;
  return nextStep(run);
}

/** The purchase fails, unless the caller or the policy wants a person to decide. */
function usedUp(run: Run, allowed: number, evidence: string): Step {
  const { number, failure: known } = run.attempt;
  const all = allowed === 1 ? 'The only attempt failed.' : `All ${allowed} attempts failed.`;
  const reason = known === undefined ? '' : `${known.detail} `;
  const detail = `${allowed < number ? 'No further attempt is allowed.' : all} ${reason}${evidence}`;
  const failure = known?.class ?? 'supplier_failed';
  // A cancellation that could not be carried out says nothing about the eSIM.
  if (!KINDS[run.work.kind].isPurchase) return { step: 'open_case', reason: 'attempts_used_up', detail, failure };
  return { step: 'fail', failure, detail, endedBy: 'attempts_used_up' };
}
