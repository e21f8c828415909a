import type { PurchaseWorkflowInput, PurchaseWorkflowResult } from '#workflows/messages.ts';
import { buy, BUYING } from '#workflows/purchase/buy.ts';
import type { PurchaseRules } from '#workflows/purchase/steps.ts';
import { runToEnd } from '#workflows/run/run-to-end.ts';

const RECHARGE: PurchaseRules = {
  ...BUYING,
  name: 'price',
  delivered: 'completed',
  done: (esimId) => `The eSIM ${esimId} was recharged.`,
};

export async function topupWorkflow(input: PurchaseWorkflowInput): Promise<PurchaseWorkflowResult> {
  return runToEnd(input, RECHARGE, buy);
}
