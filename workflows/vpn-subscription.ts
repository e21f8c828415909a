import type { WorkEnd } from '#domain/work/lifecycle.ts';
import type { PurchaseWorkflowInput, PurchaseWorkflowResult } from '#workflows/messages.ts';
import { buy } from '#workflows/order.ts';
import type { Delivery } from '#workflows/purchase/deliver.ts';
import { CONTRADICTED } from '#workflows/purchase/steps.ts';
import { cancel } from '#workflows/subscription/cancel.ts';
import { stayActive } from '#workflows/subscription/stay-active.ts';
import { endingOf } from '#workflows/subscription/subscription-texts.ts';
import { Subscription } from '#workflows/subscription/subscription.ts';
import { upgradeWithWorkers } from '#workflows/versioning.ts';
import { runToEnd } from '#workflows/work/run-to-end.ts';
import type { WorkRun } from '#workflows/work/work-run.ts';

const ACCESS_DATA: Delivery = {
  name: 'access data',
  status: 'active',
  overdue: 'delivery_unavailable',
  done: () => 'The VPN subscription is active.',
};

/** One VPN subscription, from acceptance to its end, which may be years later. */
export async function vpnSubscriptionWorkflow(input: PurchaseWorkflowInput): Promise<PurchaseWorkflowResult> {
  return runToEnd(input, async (run) => {
    // Buy it, by the steps of an order. A later run finds it bought.
    if (run.snapshot.subscription?.isActive !== true) {
      const end = await buy(run, ACCESS_DATA);
      if (end.status !== 'completed') return end;
    }
    // Then follow it to its end.
    return follow(run);
  });
}
upgradeWithWorkers(vpnSubscriptionWorkflow);

/** Follows an active subscription until it is cancelled or its time is over. */
async function follow(run: WorkRun): Promise<WorkEnd> {
  const subscription = new Subscription(run);
  for (;;) {
    await subscription.reload();
    await run.continueAsNewIfLong();
    const end = await take(subscription);
    if (end !== undefined) return end;
  }
}

/**
 * Takes one step and waits for what follows it.
 * @returns the end of the subscription, once it has ended.
 */
async function take(subscription: Subscription): Promise<WorkEnd | undefined> {
  const { run } = subscription;
  const contradicts = subscription.takeReports();
  const { attention, subscription: stored } = run;
  // Until a person has judged a contradiction, no report moves the subscription.
  if (attention === 'contradiction') await subscription.keepCase(attention);
  else if (contradicts) await subscription.openCase('contradiction', CONTRADICTED);
  // The service has reported its end.
  else if (stored.endedAs !== undefined) return subscription.end(stored.endedAs, endingOf(stored.endedAs));
  // The service refused to cancel it: only an operator's retry requests it again.
  else if (attention === 'cancellation_refused') await subscription.keepCase(attention);
  // Its customer has cancelled it: request it at the service, and wait for the confirmation.
  else if (stored.cancelRequested) return cancel(subscription);
  // It is active: wait until its time is over, then read whether it was renewed.
  else return stayActive(subscription);
  return undefined;
}
