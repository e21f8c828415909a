import type { PurchaseWorkflowInput, PurchaseWorkflowResult } from '#workflows/messages.ts';
import { purchase } from '#workflows/purchase/purchase.ts';
import { SubscriptionRun } from '#workflows/purchase/subscription-run.ts';

/**
 * One VPN subscription, from acceptance to its end: bought, then followed for as long as it lives, which may be years.
 */
export async function vpnSubscriptionWorkflow(input: PurchaseWorkflowInput): Promise<PurchaseWorkflowResult> {
  return purchase(input, (context, state) => new SubscriptionRun(context, state).run());
}
