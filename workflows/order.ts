import type { PurchaseWorkflowInput, PurchaseWorkflowResult } from '#workflows/messages.ts';
import { buy, BUYING } from '#workflows/purchase/buy.ts';
import type { PurchaseRules } from '#workflows/purchase/steps.ts';
import { runToEnd } from '#workflows/run/run-to-end.ts';

const ESIM: PurchaseRules = {
  ...BUYING,
  name: 'eSIM',
  delivered: 'completed',
  done: (esimId) => `The eSIM ${esimId} was delivered.`,
};

/** Its steps, on one page: {@link buy}. */
export async function orderWorkflow(input: PurchaseWorkflowInput): Promise<PurchaseWorkflowResult> {
  // Signals, queries and updates first, then the order from PostgreSQL with its attempt: key, reference, bytes.
  return runToEnd(input, ESIM, buy);
}
