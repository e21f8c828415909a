import { afterAcceptance } from '#domain/purchase/purchase-decision.ts';
import type { WorkEnd } from '#domain/work/lifecycle.ts';
import { fail, openCase, retryLater } from '#workflows/purchase/cases.ts';
import { deliver } from '#workflows/purchase/deliver.ts';
import { hold, waitForService } from '#workflows/purchase/hold.ts';
import { lookUp, proveAbsence } from '#workflows/purchase/look-up.ts';
import { openAttempt, waitForNewAttempt } from '#workflows/purchase/new-attempt.ts';
import { afterSend, send, waitForOtherSend, waitToResend } from '#workflows/purchase/send.ts';
import { awaitEvidence, settle } from '#workflows/purchase/settle.ts';
import { firstStep, type PurchaseRules, type Step } from '#workflows/purchase/steps.ts';
import type { Run } from '#workflows/run/run.ts';

/** What the purchases have in common. */
export const BUYING = {
  overdue: 'delivery_unavailable',
  failed: 'Failed permanently; nothing was bought',
  inProgress: ({ noun }) => ({
    now: `The service has accepted the ${noun} and is working on it.`,
    next: 'Its webhook. Without one, the reconciler looks it up.',
  }),
  afterReport: afterAcceptance,
  awaitService: waitForService,
} as const satisfies Partial<PurchaseRules>;

/**
 * Every kind of work takes these steps. A report or an operator's action may lead to another step during every wait. A
 * run may begin at any step.
 */
export async function buy(run: Run): Promise<WorkEnd> {
  let step = run.sent === undefined ? firstStep(run) : await afterSend(run, run.sent);
  while (step.step !== 'end') {
    // The one place where every step may continue as new; steps that loop call it themselves.
    await run.continueAsNewIfLong(step);
    step = await take(run, step);
  }
  return step.end;
}

async function take(run: Run, step: Exclude<Step, { step: 'end' }>): Promise<Step> {
  switch (step.step) {
    // The stored bytes, once.
    case 'send':
      return send(run);
    // Nothing was bought and the obstacle passes (balance, outage, purchase gate): wait, then send.
    case 'hold':
      return hold(run, step);
    case 'wait_for_lease':
      return waitForOtherSend(run, step);

    // The outcome is unknown: the same bytes with the same key, while that is allowed.
    case 'resend':
      return waitToResend(run, step);
    case 'look_up':
      return lookUp(run, step);
    // The service lists nothing: only its list and wallet prove that nothing was bought.
    case 'prove_absence':
      return proveAbsence(run, step);

    case 'await_service':
      return run.rules.awaitService(run, step);
    case 'deliver':
      return deliver(run);

    // Only the wallet proves that a reported failure cost nothing. Then a new attempt may follow.
    case 'settle':
      return settle(run, step);
    case 'await_evidence':
      return awaitEvidence(run, step);
    case 'new_attempt':
      return waitForNewAttempt(run, step);
    case 'open_attempt':
      return openAttempt(run, step);
    case 'fail':
      return fail(run, step);

    case 'retry_later':
      return retryLater(run, step);
    case 'open_case':
      return openCase(run, step);
  }
}
