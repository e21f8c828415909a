import type { PurchaseWorkflowInput, PurchaseWorkflowResult } from '#workflows/messages.ts';
import { purchase } from '#workflows/purchase/purchase.ts';

/** One order of an eSIM package, from acceptance to the delivered eSIM or another end. */
export async function orderWorkflow(input: PurchaseWorkflowInput): Promise<PurchaseWorkflowResult> {
  return purchase(input);
}
