import type { WorkEnd } from '#domain/work/lifecycle.ts';
import type { PurchaseWorkflowInput, PurchaseWorkflowResult } from '#workflows/messages.ts';
import { buy } from '#workflows/order.ts';
import type { Delivery } from '#workflows/purchase/deliver.ts';
import { CONTRADICTED } from '#workflows/purchase/steps.ts';
import { cancel } from '#workflows/subscription/cancel.ts';
import { stayActive } from '#workflows/subscription/stay-active.ts';
import { endingOf, Subscription } from '#workflows/subscription/subscription.ts';
import { upgradeWithWorkers } from '#workflows/versioning.ts';
import { runToEnd } from '#workflows/work/run-to-end.ts';
import type { WorkRun } from '#workflows/work/work-run.ts';

const ACCESS_DATA: Delivery = {
  name: 'access data',
  status: 'active',
  overdue: 'delivery_unavailable',
  done: () => 'The VPN subscription is active.',
};

/** May run for years. */
export async function vpnSubscriptionWorkflow(input: PurchaseWorkflowInput): Promise<PurchaseWorkflowResult> {
  return runToEnd(input, async (run) => {
    // A later run finds it bought.
    if (run.snapshot.subscription?.isActive !== true) {
      const end = await buy(run, ACCESS_DATA);
      if (end.status !== 'completed') return end;
    }
    return follow(run);
  });
}
upgradeWithWorkers(vpnSubscriptionWorkflow);

async function follow(run: WorkRun): Promise<WorkEnd> {
  const subscription = new Subscription(run);
  for (;;) {
    await subscription.reload();
    await run.continueAsNewIfLong();
    const end = await take(subscription);
    if (end !== undefined) return end;
  }
}

async function take(subscription: Subscription): Promise<WorkEnd | undefined> {
  const { run } = subscription;
  const contradicts = subscription.takeReports();
  const { attention, subscription: stored } = run;
  // Until a person has judged a contradiction, no report moves the subscription.
  if (attention === 'contradiction') await subscription.keepCase(attention);
  else if (contradicts) await subscription.openCase('contradiction', CONTRADICTED);
  else if (stored.endedAs !== undefined) return subscription.end(stored.endedAs, endingOf(stored.endedAs));
  // The service refused to cancel it: only an operator's retry requests it again.
  else if (attention === 'cancellation_refused') await subscription.keepCase(attention);
  else if (stored.cancelRequested) return cancel(subscription);
  else return stayActive(subscription);
  return undefined;
}
