/** The workflows with a changed order: its first command is a timer. Runs that began without it cannot be replayed. */
import { sleep } from '@temporalio/workflow';
import type { PurchaseWorkflowInput, PurchaseWorkflowResult } from '#workflows/messages.ts';
import { orderWorkflow as order } from '#workflows/order.ts';

export * from '#workflows/index.ts';

export async function orderWorkflow(input: PurchaseWorkflowInput): Promise<PurchaseWorkflowResult> {
  // Before the handlers are registered, so that it is the first command; nothing waits for it until the end.
  const timer = sleep('1 second');
  const result = await order(input);
  await timer;
  return result;
}
