import type { PurchasePolicy } from '#domain/policy/purchase-policy.ts';
import { readAttempt } from '#workflows/purchase/look-up.ts';
import type { Purchase } from '#workflows/purchase/purchase.ts';
import type { Step, StepNamed } from '#workflows/purchase/steps.ts';
import { WAIT_NAMES } from '#workflows/wait-names.ts';

/**
 * Waits for the report about accepted work. Without one it is looked up from time to time: the reconciler reads for all
 * work, but only its own workflow can open a case when the service denies it.
 */
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

/** The first of the doubling times after the acceptance that is still to come, in epoch milliseconds. */
function nextReadAt(since: number, { deniedAfterMs }: Pick<PurchasePolicy, 'deniedAfterMs'>): number {
  let afterMs = deniedAfterMs;
  while (since + afterMs <= Date.now()) afterMs *= 2;
  return since + afterMs;
}

/**
 * Reads accepted work. When neither its id nor a complete list shows it, a case opens and the reads go on: the service
 * has accepted it, so it may have been bought, and it never fails by this.
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
