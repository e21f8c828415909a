import { afterAcceptance } from '#domain/purchase/purchase-decision.ts';
import type { PurchaseWorkflowInput, PurchaseWorkflowResult } from '#workflows/messages.ts';
import { buy } from '#workflows/purchase/buy.ts';
import { nextStep, stepAfterReports, type PurchaseRules, type Step } from '#workflows/purchase/steps.ts';
import { runToEnd } from '#workflows/run/run-to-end.ts';
import type { Run } from '#workflows/run/run.ts';
import { WAIT_NAMES } from '#workflows/wait-names.ts';

const REFUND: PurchaseRules = {
  name: 'refund',
  delivered: 'completed',
  done: (esimId) => `The eSIM ${esimId} is cancelled.`,
  overdue: 'refund_missing',
  failed: 'Refused; the eSIM is not cancelled',
  inProgress: ({ noun, cancellation }) => ({
    now:
      cancellation.cancelledAt === undefined
        ? `The service has accepted the ${noun} and is working on it.`
        : 'The eSIM is cancelled; the service decides about its refund.',
    next: 'Its webhook. Without one, the reconciler looks it up.',
  }),
  afterReport: (outcome, { cancellation: { refundFailed, cancelledAt } }) => {
    // Only the refund is known to have failed. The eSIM itself shows whether the whole cancellation was refused.
    if (outcome === 'processing' && refundFailed && cancelledAt === undefined)
      return { step: 'look_up', failure: 'cancellation_refused' };
    return afterAcceptance(outcome);
  },
  awaitService: waitForRefund,
};

/** The request is sent with the care of a purchase: one attempt, one key. No wallet is read: it spends nothing. */
export async function cancellationWorkflow(input: PurchaseWorkflowInput): Promise<PurchaseWorkflowResult> {
  return runToEnd(input, REFUND, buy);
}

/** The service may report the cancellation and the refund in either order. */
async function waitForRefund(run: Run): Promise<Step> {
  const { cancelledAt, refundPaid } = run.cancellation;
  // The money is in the wallet, whatever the service reports about its decision.
  if (cancelledAt !== undefined && refundPaid) return { step: 'deliver' };
  await run.goOn({ status: 'processing', ...REFUND.inProgress(run) });
  const woken = await run.wait(refundAwaitedUntil(run) - Date.now(), WAIT_NAMES.refund());
  if (woken === 'observation') return stepAfterReports(run);
  return woken === 'time' ? { step: 'deliver' } : nextStep(run);
}

/** Epoch milliseconds. */
function refundAwaitedUntil({ cancellation, attempt, snapshot, policy }: Run): number {
  const { cancelledAt, acceptWithoutRefund, refundOpen } = cancellation;
  // The caller does without a refund, and the service has announced none: a short wait is enough.
  const isShort = cancelledAt !== undefined && acceptWithoutRefund && !refundOpen;
  const since = cancelledAt ?? attempt.history.firstSentAt ?? snapshot.acceptedAt;
  return since + (isShort ? policy.refundGraceMs : policy.refundDeadlineMs);
}
