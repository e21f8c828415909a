import type { Purchase } from '#workflows/purchase/purchase.ts';
import type { Step } from '#workflows/purchase/steps.ts';
import { WAIT_NAMES } from '#workflows/wait-names.ts';

/** Waits for the report about accepted work. Without one in time, the work is looked up. */
export async function waitForService(purchase: Purchase): Promise<Step> {
  const { run } = purchase;
  await run.goOn({ status: 'processing', ...purchase.rules.inProgress(run) });
  purchase.awaitedSince ??= Date.now();
  const until = purchase.awaitedSince + run.policy.silentDeadlineMs;
  const woken = await run.wait(until - Date.now(), WAIT_NAMES.service());
  const isStillAwaited = woken === 'operator' && run.attempt.state === 'processing';
  if (!isStillAwaited) purchase.awaitedSince = undefined;
  if (woken === 'observation') return purchase.takeReports();
  // After an action the row decides: after a loss of commits it may not know the acceptance any more.
  return woken === 'time' ? { step: 'look_up', failure: 'timeout' } : purchase.nextStep();
}
