import { backoffMs } from '#domain/policy/settings.ts';
import { costNothing, decideSettlement } from '#domain/purchase/purchase-decision.ts';
import type { EvidenceResult } from '#domain/purchase/results.ts';
import { KINDS } from '#domain/work/kinds.ts';
import { orWhenGivenUp, readActivities } from '#workflows/options.ts';
import { showAskedAgain } from '#workflows/purchase/deliver.ts';
import {
  attemptRef,
  failureOf,
  nextStep,
  stepAfterAction,
  stepAfterReports,
  type Step,
  type StepNamed,
} from '#workflows/purchase/steps.ts';
import type { Run } from '#workflows/run/run.ts';
import { WAIT_NAMES } from '#workflows/wait-names.ts';

/**
 * Only a wallet without the debit, or with its credit, lets the work fail or be bought again. A kind that costs
 * nothing ends at once: a further attempt would send it twice.
 */
export async function settle(run: Run, step: StepNamed<'settle'>): Promise<Step> {
  const { settleReads, settleDelayMs } = run.policy;
  const failure = failureOf(run, step.failure);
  if (!KINDS[run.work.kind].isPurchase) return { step: 'fail', failure: failure.class, detail: failure.detail };
  // Evidence that is awaited has waited already.
  let isAwaited = run.state.awaited?.attempt === run.attempt.number;
  // A wallet that could not be read for long is read once at a time.
  for (let read = run.state.unansweredReads > 0 ? settleReads : 1; ; read += 1) {
    const wakeAt = isAwaited ? Date.now() : Date.now() + settleDelayMs;
    const message = `The service reports attempt ${run.attempt.number} as failed; the wallet is checked first.`;
    const next = `The wallet is read (${read} of ${settleReads}).`;
    if (run.state.unansweredReads > 0) showAskedAgain(run, { now: message, next, nextStepAt: wakeAt });
    else if (!isAwaited) {
      const event = 'attempt.settling';
      await run.record({ status: 'processing', event, message, failure, nextStepAt: wakeAt, next });
    }
    // No action shortens this wait: a debit may appear late.
    while (Date.now() < wakeAt) {
      await run.continueAsNewIfLong(step);
      const woken = await run.wait(wakeAt - Date.now(), WAIT_NAMES.wallet(read));
      if (woken === 'observation') return stepAfterReports(run);
      if (woken === 'operator' && run.attempt.state !== 'failed') return nextStep(run);
      if (run.attempt.settled) return nextStep(run);
    }
    isAwaited = false;
    const result = await readEvidence(run);
    if (result.evidence === 'awaited') {
      const { evidence: _evidence, ...awaited } = result;
      return { step: 'await_evidence', failure: failure.class, resume: 'settle', ...awaited };
    }
    const { evidence, detail, mayPass } = result;
    if (mayPass !== true) run.state.unansweredReads = 0;
    if (costNothing(evidence)) {
      run.state.awaited = undefined;
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
export async function awaitEvidence(run: Run, step: StepNamed<'await_evidence'>): Promise<Step> {
  const { failure, resume, reason, detail, againInMs } = step;
  const { evidenceAgainMs, evidenceAgainMaxMs, evidenceDeadlineMs } = run.policy;
  const { number, state } = run.attempt;
  const known = run.state.awaited?.attempt === number ? run.state.awaited : undefined;
  const { since, readings } = known ?? { since: Date.now(), readings: 0 };
  run.state.awaited = { attempt: number, since, readings: readings + 1, reason };
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
  const { status, message, nextStepAt, next } = shown;
  if (known?.reason !== reason) await run.record(shown);
  else run.show({ status, now: message, next, nextStepAt, failure });
  const waitMs = againInMs ?? backoffMs(evidenceAgainMs, evidenceAgainMaxMs, readings + 1);
  const woken = await run.wait(Math.min(waitMs, until - Date.now()), WAIT_NAMES.evidence(number));
  if (woken === 'observation') return stepAfterReports(run);
  const again: Step = resume === 'settle' ? { step: 'settle', failure } : { step: 'prove_absence', failure, detail };
  return woken === 'operator' ? stepAfterAction(run, again) : again;
}

function readEvidence(run: Run): Promise<EvidenceResult> {
  const summary = `Read in the wallet whether attempt ${run.attempt.number} was charged`;
  const { readDebitEvidence } = readActivities(run.policy, summary);
  // A wallet that could not be read proves nothing.
  const detail = 'The wallet could not be read for a long time.';
  return orWhenGivenUp(readDebitEvidence(attemptRef(run)), { evidence: 'unavailable', mayPass: true, detail });
}
