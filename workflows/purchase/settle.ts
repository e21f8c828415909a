import { proxyActivities } from '@temporalio/workflow';
import type { EvidenceResult, PurchaseActivities } from '#activities/work/work-types.ts';
import { costNothing, decideSettlement } from '#domain/purchase/purchase-decision.ts';
import { FAILURE_CLASSES } from '#domain/work/failure.ts';
import { KINDS } from '#domain/work/kinds.ts';
import { DEADLINES_OF_READS, repeatedRead } from '#workflows/activity-options.ts';
import { showAskedAgain } from '#workflows/purchase/deliver.ts';
import type { Purchase } from '#workflows/purchase/purchase.ts';
import type { Step, StepNamed } from '#workflows/purchase/steps.ts';
import { WAIT_NAMES } from '#workflows/wait-names.ts';
import { requireGivenUp } from '#workflows/work/activity-failures.ts';

/**
 * Reads the wallet after the service has reported a failure. Only a wallet without the debit, or with its credit, lets
 * the work fail or be bought again. A kind that costs nothing ends at once: its wallet would prove nothing, and a
 * further attempt would send it twice.
 */
export async function settle(purchase: Purchase, step: StepNamed<'settle'>): Promise<Step> {
  const { run } = purchase;
  const { settleReads, settleDelayMs } = run.policy;
  const failure = run.attempt.failure ?? { class: step.failure, detail: FAILURE_CLASSES[step.failure].meaning };
  if (!KINDS[run.work.kind].isPurchase) return { step: 'fail', failure: failure.class, detail: failure.detail };
  // A wallet that could not be read for long is read once at a time.
  for (let read = purchase.unansweredReads > 0 ? settleReads : 1; ; read += 1) {
    const wakeAt = Date.now() + settleDelayMs;
    const message = `The service reports attempt ${run.attempt.number} as failed; the wallet is checked first.`;
    const next = `The wallet is read (${read} of ${settleReads}).`;
    if (purchase.unansweredReads > 0) showAskedAgain(run, { now: message, next, nextStepAt: wakeAt });
    else {
      const event = 'attempt.settling';
      await run.record({ status: 'processing', event, message, failure, nextStepAt: wakeAt, next });
    }
    // No action shortens this wait: a debit may appear late.
    while (Date.now() < wakeAt) {
      await purchase.continueAsNewIfLong(step);
      const woken = await run.wait(wakeAt - Date.now(), WAIT_NAMES.wallet(read));
      if (woken === 'observation') return purchase.takeReports();
      if (woken === 'operator' && run.attempt.state !== 'failed') return purchase.nextStep();
      if (run.attempt.settled) return purchase.nextStep();
    }
    const { evidence, detail, mayPass } = await readEvidence(purchase);
    if (mayPass !== true) purchase.unansweredReads = 0;
    if (costNothing(evidence)) {
      run.attempt = { ...run.attempt, settled: true };
      return { step: 'new_attempt', evidence: detail };
    }
    if (decideSettlement(read, run.policy) === 'read_again') continue;
    if (mayPass === true)
      return { step: 'retry_later', reason: 'service_not_answering', detail, failure: failure.class, resume: 'settle' };
    const reason = evidence === 'debited' ? 'failed_but_charged' : 'evidence_unavailable';
    return { step: 'open_case', reason, detail, failure: failure.class };
  }
}

async function readEvidence({ run, attemptRef }: Purchase): Promise<EvidenceResult> {
  const { readDebitEvidence } = proxyActivities<Pick<PurchaseActivities, 'readDebitEvidence'>>({
    ...repeatedRead(run.policy, DEADLINES_OF_READS),
    summary: `Read in the wallet whether attempt ${run.attempt.number} was charged`,
  });
  try {
    return await readDebitEvidence(attemptRef);
  } catch (error) {
    requireGivenUp(error);
    // A wallet that could not be read proves nothing.
    return { evidence: 'unavailable', mayPass: true, detail: 'The wallet could not be read for a long time.' };
  }
}
