import { proxyActivities } from '@temporalio/workflow';
import { backoffMs } from '#domain/policy/settings.ts';
import { costNothing, decideSettlement } from '#domain/purchase/purchase-decision.ts';
import type { EvidenceResult, PurchaseActivities } from '#domain/purchase/results.ts';
import { FAILURE_CLASSES } from '#domain/work/failure.ts';
import { KINDS } from '#domain/work/kinds.ts';
import { DEADLINES_OF_READS, repeatedRead, requireGivenUp } from '#workflows/activity-options.ts';
import { showAskedAgain } from '#workflows/purchase/deliver.ts';
import type { Purchase } from '#workflows/purchase/purchase.ts';
import type { Step, StepNamed } from '#workflows/purchase/steps.ts';
import { WAIT_NAMES } from '#workflows/wait-names.ts';

/**
 * Only a wallet without the debit, or with its credit, lets the work fail or be bought again. A kind that costs
 * nothing ends at once: a further attempt would send it twice.
 */
export async function settle(purchase: Purchase, step: StepNamed<'settle'>): Promise<Step> {
  const { run } = purchase;
  const { settleReads, settleDelayMs } = run.policy;
  const failure = run.attempt.failure ?? { class: step.failure, detail: FAILURE_CLASSES[step.failure].meaning };
  if (!KINDS[run.work.kind].isPurchase) return { step: 'fail', failure: failure.class, detail: failure.detail };
  // Evidence that is awaited has waited already.
  let isAwaited = purchase.awaited?.attempt === run.attempt.number;
  // A wallet that could not be read for long is read once at a time.
  for (let read = purchase.unansweredReads > 0 ? settleReads : 1; ; read += 1) {
    const wakeAt = isAwaited ? Date.now() : Date.now() + settleDelayMs;
    const message = `The service reports attempt ${run.attempt.number} as failed; the wallet is checked first.`;
    const next = `The wallet is read (${read} of ${settleReads}).`;
    if (purchase.unansweredReads > 0) showAskedAgain(run, { now: message, next, nextStepAt: wakeAt });
    else if (!isAwaited) {
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
    isAwaited = false;
    const result = await readEvidence(purchase);
    if (result.evidence === 'awaited') {
      const { reason, detail, againInMs } = result;
      const awaited = { failure: failure.class, resume: 'settle', reason, detail } as const;
      return { step: 'await_evidence', ...awaited, ...(againInMs !== undefined && { againInMs }) };
    }
    const { evidence, detail, mayPass } = result;
    if (mayPass !== true) purchase.unansweredReads = 0;
    if (costNothing(evidence)) {
      purchase.awaited = undefined;
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

/**
 * The attempt neither fails nor is bought again while nothing proves its cost. A case opens, and the evidence is
 * judged again.
 */
export async function awaitEvidence(purchase: Purchase, step: StepNamed<'await_evidence'>): Promise<Step> {
  const { run } = purchase;
  const { failure, resume, reason, detail, againInMs } = step;
  const { evidenceAgainMs, evidenceAgainMaxMs, evidenceDeadlineMs } = run.policy;
  const { number, state } = run.attempt;
  const known = purchase.awaited?.attempt === number ? purchase.awaited : undefined;
  const { since, readings } = known ?? { since: Date.now(), readings: 0 };
  purchase.awaited = { attempt: number, since, readings: readings + 1, reason };
  // After a restore, no reading will ever be from before the send: a person decides at once.
  const until = reason === 'no_reading_before' ? since : since + evidenceDeadlineMs;
  if (Date.now() >= until) return { step: 'retry_later', reason: 'evidence_unavailable', detail, failure, resume };
  const from = new Date(since).toISOString();
  const shown = {
    status: state === 'failed' ? 'processing' : 'submitting',
    event: 'attempt.evidence_awaited',
    message: `Nothing proves yet what attempt ${number} cost. ${detail}`,
    failure: { class: failure, detail: `Evidence is awaited since ${from}: ${detail}` },
    nextStepAt: until,
    next:
      'It is judged again with each reading of the wallet. Without a proof, a case opens at ' +
      `${new Date(until).toISOString()}.`,
  } as const;
  if (known?.reason !== reason) await run.record(shown);
  else run.show({ ...shown, now: shown.message, failure });
  const waitMs = againInMs ?? backoffMs(evidenceAgainMs, evidenceAgainMaxMs, readings + 1);
  const woken = await run.wait(Math.min(waitMs, until - Date.now()), WAIT_NAMES.evidence(number));
  if (woken === 'observation') return purchase.takeReports();
  const again: Step = resume === 'settle' ? { step: 'settle', failure } : { step: 'prove_absence', failure, detail };
  return woken === 'operator' ? purchase.stepAfterAction(again) : again;
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
