import { afterAcceptance } from '#domain/purchase/purchase-decision.ts';
import type { WorkEnd } from '#domain/work/lifecycle.ts';
import type { PurchaseWorkflowInput, PurchaseWorkflowResult } from '#workflows/messages.ts';
import { fail, openCase, retryLater } from '#workflows/purchase/cases.ts';
import { deliver, type Delivery } from '#workflows/purchase/deliver.ts';
import { hold } from '#workflows/purchase/hold.ts';
import { lookUp, proveAbsence } from '#workflows/purchase/look-up.ts';
import { openAttempt, waitForNewAttempt } from '#workflows/purchase/new-attempt.ts';
import { Purchase, type PurchaseRules } from '#workflows/purchase/purchase.ts';
import { send, waitForOtherSend, waitToResend } from '#workflows/purchase/send.ts';
import { awaitEvidence, settle } from '#workflows/purchase/settle.ts';
import type { Step } from '#workflows/purchase/steps.ts';
import { WAIT_NAMES } from '#workflows/wait-names.ts';
import { runToEnd } from '#workflows/work/run-to-end.ts';
import type { WorkRun } from '#workflows/work/work-run.ts';

const REFUND: Delivery = {
  name: 'refund',
  status: 'completed',
  overdue: 'refund_missing',
  done: (esimId) => `The eSIM ${esimId} is cancelled.`,
};

export async function cancellationWorkflow(input: PurchaseWorkflowInput): Promise<PurchaseWorkflowResult> {
  return runToEnd(input, cancel);
}

/** The request is sent with the care of a purchase: one attempt, one key. */
async function cancel(run: WorkRun): Promise<WorkEnd> {
  const cancellation = new Purchase(run, CANCELLING);
  let step = cancellation.firstStep();
  while (step.step !== 'end') {
    await cancellation.continueAsNewIfLong(step);
    step = await take(cancellation, step);
  }
  return step.end;
}

async function take(cancellation: Purchase, step: Exclude<Step, { step: 'end' }>): Promise<Step> {
  switch (step.step) {
    case 'send':
      return send(cancellation);
    case 'hold':
      return hold(cancellation, step);
    case 'wait_for_lease':
      return waitForOtherSend(cancellation, step);

    // The result is unknown: the same bytes with the same key.
    case 'resend':
      return waitToResend(cancellation, step);
    case 'look_up':
      return lookUp(cancellation, step);
    case 'prove_absence':
      return proveAbsence(cancellation, step);

    case 'await_service':
      return waitForRefund(cancellation);
    case 'deliver':
      return deliver(cancellation, REFUND);

    // No wallet is read: a cancellation spends nothing.
    case 'settle':
      return settle(cancellation, step);
    case 'fail':
      return fail(cancellation, step);
    // An operator has found that the attempt did nothing: it is requested anew.
    case 'await_evidence':
      return awaitEvidence(cancellation, step);
    case 'new_attempt':
      return waitForNewAttempt(cancellation, step);
    case 'open_attempt':
      return openAttempt(cancellation, step);

    case 'retry_later':
      return retryLater(cancellation, step);
    case 'open_case':
      return openCase(cancellation, step);
  }
}

/** The service may report the cancellation and the refund in either order. */
async function waitForRefund(cancellation: Purchase): Promise<Step> {
  const { run } = cancellation;
  const { cancelledAt, refundPaid } = run.cancellation;
  // The money is in the wallet, whatever the service reports about its decision.
  if (cancelledAt !== undefined && refundPaid) return { step: 'deliver' };
  await run.goOn({ status: 'processing', ...CANCELLING.inProgress(run) });
  const woken = await run.wait(refundAwaitedUntil(run) - Date.now(), WAIT_NAMES.refund());
  if (woken === 'observation') return cancellation.takeReports();
  return woken === 'time' ? { step: 'deliver' } : cancellation.nextStep();
}

/** Epoch milliseconds. */
function refundAwaitedUntil({ cancellation, attempt, snapshot, policy }: WorkRun): number {
  const { cancelledAt, acceptWithoutRefund, refundOpen } = cancellation;
  // The caller does without a refund, and the service has announced none: a short wait is enough.
  const isShort = cancelledAt !== undefined && acceptWithoutRefund && !refundOpen;
  const since = cancelledAt ?? attempt.history.firstSentAt ?? snapshot.acceptedAt;
  return since + (isShort ? policy.refundGraceMs : policy.refundDeadlineMs);
}

const CANCELLING: PurchaseRules = {
  afterReport: (outcome, { cancellation: { refundFailed, cancelledAt } }) => {
    // Only the refund is known to have failed. The eSIM itself shows whether the whole cancellation was refused.
    if (outcome === 'processing' && refundFailed && cancelledAt === undefined)
      return { step: 'look_up', failure: 'cancellation_refused' };
    return afterAcceptance(outcome);
  },
  inProgress: ({ noun, cancellation }) => ({
    now:
      cancellation.cancelledAt === undefined
        ? `The service has accepted the ${noun} and is working on it.`
        : 'The eSIM is cancelled; the service decides about its refund.',
    next: 'Its webhook. Without one, the reconciler looks it up.',
  }),
  failed: 'Refused; the eSIM is not cancelled',
};
