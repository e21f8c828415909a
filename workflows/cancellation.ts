import type { PurchaseWorkflowInput, PurchaseWorkflowResult } from '#workflows/messages.ts';
import { purchase } from '#workflows/purchase/purchase.ts';

/** One cancellation of an eSIM, from acceptance until its refund is in the wallet, or another end. */
export async function cancellationWorkflow(input: PurchaseWorkflowInput): Promise<PurchaseWorkflowResult> {
  return purchase(input);
}
