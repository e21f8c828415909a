/** The order workflow with one step more at its beginning: a change that workflows under way cannot take. */
import { sleep } from '@temporalio/workflow';
import type { PurchaseWorkflowInput, PurchaseWorkflowResult } from '#workflows/messages.ts';
import { orderWorkflow as released } from '#workflows/order.ts';

export async function orderWorkflow(input: PurchaseWorkflowInput): Promise<PurchaseWorkflowResult> {
  await sleep('1 second');
  return released(input);
}
