import type { PurchaseWorkflowInput, PurchaseWorkflowResult } from '#workflows/messages.ts';
import { purchase } from '#workflows/purchase/purchase.ts';

/** One top-up of an eSIM, from acceptance to its recharge or another end. */
export async function topupWorkflow(input: PurchaseWorkflowInput): Promise<PurchaseWorkflowResult> {
  return purchase(input);
}
