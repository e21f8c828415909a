import type { WorkEnd } from '#domain/work/lifecycle.ts';
import type { PurchaseWorkflowInput, PurchaseWorkflowResult } from '#workflows/messages.ts';
import { upgradeWithWorkers } from '#workflows/options.ts';
import { buy, BUYING } from '#workflows/purchase/buy.ts';
import { CONTRADICTED, type PurchaseRules } from '#workflows/purchase/steps.ts';
import { runToEnd } from '#workflows/run/run-to-end.ts';
import type { Run } from '#workflows/run/run.ts';
import { cancel } from '#workflows/subscription/cancel.ts';
import { stayActive } from '#workflows/subscription/stay-active.ts';
import {
  endingOf,
  endSubscription,
  keepCase,
  openCase,
  readSubscription,
} from '#workflows/subscription/subscription.ts';

const ACCESS_DATA: PurchaseRules = {
  ...BUYING,
  name: 'access data',
  delivered: 'active',
  done: () => 'The VPN subscription is active.',
};

/** May run for years. */
export async function vpnSubscriptionWorkflow(input: PurchaseWorkflowInput): Promise<PurchaseWorkflowResult> {
  return runToEnd(input, ACCESS_DATA, async (run) => {
    // A later run finds it bought.
    if (run.snapshot.subscription?.isActive !== true) {
      const end = await buy(run);
      if (end.status !== 'completed') return end;
      run.forget();
    }
    return follow(run);
  });
}
upgradeWithWorkers(vpnSubscriptionWorkflow);

async function follow(run: Run): Promise<WorkEnd> {
  for (;;) {
    await readSubscription(run);
    await run.continueAsNewIfLong();
    const end = await take(run);
    if (end !== undefined) return end;
  }
}

async function take(run: Run): Promise<WorkEnd | undefined> {
  const contradicts = run.takeReports();
  const { attention, subscription } = run;
  // Until a person has judged a contradiction, no report moves the subscription.
  if (attention === 'contradiction') await keepCase(run, attention);
  else if (contradicts) await openCase(run, 'contradiction', CONTRADICTED);
  else if (subscription.endedAs !== undefined)
    return endSubscription(run, subscription.endedAs, endingOf(subscription.endedAs));
  // The service refused to cancel it: only an operator's retry requests it again.
  else if (attention === 'cancellation_refused') await keepCase(run, attention);
  else if (subscription.cancelRequested) return cancel(run);
  else return stayActive(run);
  return undefined;
}
