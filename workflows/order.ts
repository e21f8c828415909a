import { afterAcceptance } from '#domain/purchase/purchase-decision.ts';
import type { WorkEnd } from '#domain/work/lifecycle.ts';
import type { PurchaseWorkflowInput, PurchaseWorkflowResult } from '#workflows/messages.ts';
import { fail, openCase, retryLater } from '#workflows/purchase/cases.ts';
import { deliver, type Delivery } from '#workflows/purchase/deliver.ts';
import { hold, waitForService } from '#workflows/purchase/hold.ts';
import { lookUp, proveAbsence } from '#workflows/purchase/look-up.ts';
import { openAttempt, waitForNewAttempt } from '#workflows/purchase/new-attempt.ts';
import { Purchase, type PurchaseRules } from '#workflows/purchase/purchase.ts';
import { send, waitForOtherSend, waitToResend } from '#workflows/purchase/send.ts';
import { awaitEvidence, settle } from '#workflows/purchase/settle.ts';
import type { Step } from '#workflows/purchase/steps.ts';
import { runToEnd } from '#workflows/work/run-to-end.ts';
import type { WorkRun } from '#workflows/work/work-run.ts';

const ESIM: Delivery = {
  name: 'eSIM',
  status: 'completed',
  overdue: 'delivery_unavailable',
  done: (esimId) => `The eSIM ${esimId} was delivered.`,
};

export async function orderWorkflow(input: PurchaseWorkflowInput): Promise<PurchaseWorkflowResult> {
  // Signals, queries and updates first, then the order from PostgreSQL with its attempt: key, reference, bytes.
  return runToEnd(input, (run) => buy(run, ESIM));
}

/**
 * Top-ups and VPN subscriptions are bought by the same steps. A report or an operator's action may lead to another
 * step during every wait. A run may begin at any step.
 */
export async function buy(run: WorkRun, delivery: Delivery): Promise<WorkEnd> {
  const purchase = new Purchase(run, BUYING);
  let step = purchase.firstStep();
  while (step.step !== 'end') {
    // The one place where every step may continue as new; steps that loop call it themselves.
    await purchase.continueAsNewIfLong(step);
    step = await take(purchase, step, delivery);
  }
  return step.end;
}

async function take(purchase: Purchase, step: Exclude<Step, { step: 'end' }>, delivery: Delivery): Promise<Step> {
  switch (step.step) {
    // The stored bytes, once.
    case 'send':
      return send(purchase, delivery);
    // Nothing was bought and the obstacle passes (balance, outage, purchase gate): wait, then send.
    case 'hold':
      return hold(purchase, step);
    case 'wait_for_lease':
      return waitForOtherSend(purchase, step);

    // The outcome is unknown: the same bytes with the same key, while that is allowed.
    case 'resend':
      return waitToResend(purchase, step);
    case 'look_up':
      return lookUp(purchase, step);
    // The service lists nothing: only its list and wallet prove that nothing was bought.
    case 'prove_absence':
      return proveAbsence(purchase, step);

    case 'await_service':
      return waitForService(purchase, step);
    case 'deliver':
      return deliver(purchase, delivery);

    // Only the wallet proves that a reported failure cost nothing. Then a new attempt may follow.
    case 'settle':
      return settle(purchase, step);
    case 'await_evidence':
      return awaitEvidence(purchase, step);
    case 'new_attempt':
      return waitForNewAttempt(purchase, step);
    case 'open_attempt':
      return openAttempt(purchase, step);
    case 'fail':
      return fail(purchase, step);

    case 'retry_later':
      return retryLater(purchase, step);
    case 'open_case':
      return openCase(purchase, step);
  }
}

const BUYING: PurchaseRules = {
  afterReport: afterAcceptance,
  inProgress: ({ noun }) => ({
    now: `The service has accepted the ${noun} and is working on it.`,
    next: 'Its webhook. Without one, the reconciler looks it up.',
  }),
  failed: 'Failed permanently; nothing was bought',
};
