/** The workflows of purchases with one step more at their beginning: a change that workflows under way cannot take. */
import { sleep } from '@temporalio/workflow';
import type { PurchaseWorkflowInput, PurchaseWorkflowResult } from '#workflows/messages.ts';
import { purchase } from '#workflows/purchase.ts';

export async function orderWorkflow(input: PurchaseWorkflowInput): Promise<PurchaseWorkflowResult> {
  await sleep('1 second');
  return purchase(input);
}

export const topupWorkflow = orderWorkflow;
export const vpnSubscriptionWorkflow = orderWorkflow;
export const cancellationWorkflow = orderWorkflow;
