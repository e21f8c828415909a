import type { PurchaseWorkflowInput, PurchaseWorkflowResult } from '#workflows/messages.ts';
import { buy } from '#workflows/order.ts';
import type { Delivery } from '#workflows/purchase/deliver.ts';
import { runToEnd } from '#workflows/work/run-to-end.ts';

const RECHARGE: Delivery = {
  name: 'price',
  status: 'completed',
  overdue: 'delivery_unavailable',
  done: (esimId) => `The eSIM ${esimId} was recharged.`,
};

export async function topupWorkflow(input: PurchaseWorkflowInput): Promise<PurchaseWorkflowResult> {
  return runToEnd(input, (run) => buy(run, RECHARGE));
}
