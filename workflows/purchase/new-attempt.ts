import { patched } from '@temporalio/workflow';
import { backoffMs } from '#domain/policy/settings.ts';
import { FAILURE_CLASSES } from '#domain/work/failure.ts';
import { KINDS } from '#domain/work/kinds.ts';
import { barred, settleEarlier } from '#workflows/purchase/cases.ts';
import type { Purchase } from '#workflows/purchase/purchase.ts';
import type { Step, StepNamed } from '#workflows/purchase/steps.ts';
import { WAIT_NAMES } from '#workflows/wait-names.ts';
import { openNextAttempt } from '#workflows/work/work-records.ts';

export async function waitForNewAttempt(purchase: Purchase, step: StepNamed<'new_attempt'>): Promise<Step> {
  const { run } = purchase;
  const { evidence } = step;
  const { number } = run.attempt;
  const failure = run.attempt.failure ?? {
    class: 'supplier_failed',
    detail: FAILURE_CLASSES.supplier_failed.meaning,
  };
  run.heldFor = 'supplier_failed';
  const since = Date.now();
  for (;;) {
    await purchase.continueAsNewIfLong(step);
    const { attempts, firstDelayMs, maxDelayMs } = run.rule;
    if (number >= attempts) return usedUp(purchase, attempts, evidence);
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
    if (woken === 'observation') return purchase.takeReports();
    // An operator may have found that it was bought.
    if (run.attempt.state !== 'failed') return purchase.nextStep();
    // After a change of the retry rule it waits by the new rule, which may allow no further attempt.
    const waitsOn = woken === 'operator' && run.isOnlyRescheduled(retryOverrides, wakeAt);
    if (!waitsOn && number < run.rule.attempts) return { step: 'open_attempt', number: number + 1, evidence };
  }
}

/**
 * Stores key, reference and exact bytes. After a start of PostgreSQL the present attempt is compared with its row
 * first: the row may be lost.
 */
export async function openAttempt(purchase: Purchase, step: StepNamed<'open_attempt'>): Promise<Step> {
  const { run } = purchase;
  const { number, evidence } = step;
  const opened = await openNextAttempt(run.work, number);
  if (opened.kind === 'not_compared') {
    await run.reload();
    const { attempt } = run;
    return attempt.number === number - 1 && attempt.state === 'failed' && attempt.settled ? step : purchase.nextStep();
  }
  if (opened.kind === 'unsettled') {
    await run.reload();
    const { state, failure } = run.attempt;
    if (state !== 'failed') return purchase.nextStep();
    return settleEarlier(purchase, failure?.class ?? 'supplier_failed');
  }
  if (opened.kind === 'barred') return barred(purchase, opened.by, step);
  if (opened.kind === 'not_allowed') return usedUp(purchase, opened.attempts, evidence);
  purchase.stall = undefined;
  purchase.unsettledBefore = undefined;
  run.attempt = opened.attempt;
  purchase.holds = 0;
  return purchase.nextStep();
}

/** The purchase fails, unless the caller or the policy wants a person to decide. */
function usedUp({ run }: Purchase, allowed: number, evidence: string): Step {
  const { number, failure: known } = run.attempt;
  const all = allowed === 1 ? 'The only attempt failed.' : `All ${allowed} attempts failed.`;
  const reason = known === undefined ? '' : `${known.detail} `;
  const detail = `${allowed < number ? 'No further attempt is allowed.' : all} ${reason}${evidence}`;
  const failure = known?.class ?? 'supplier_failed';
  // A cancellation that could not be carried out says nothing about the eSIM. Runs of earlier versions have opened a
  // case here and wait.
  if (!KINDS[run.work.kind].isPurchase || !patched('used-up-attempts-fail'))
    return { step: 'open_case', reason: 'attempts_used_up', detail, failure };
  return { step: 'fail', failure, detail, endedBy: 'attempts_used_up' };
}
