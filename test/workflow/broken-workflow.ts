/** The workflows with an additional first step: a change that breaks running workflows. */
import { sleep } from '@temporalio/workflow';
import * as upkeep from '#workflows/maintenance.ts';
import type {
  PurchaseWorkflowInput,
  PurchaseWorkflowResult,
  WebhookEndpointInput,
  WebhookEndpointResult,
} from '#workflows/messages.ts';
import { orderWorkflow as order } from '#workflows/order.ts';
import { webhookEndpointWorkflow as endpoint } from '#workflows/webhook-endpoint.ts';

export async function orderWorkflow(input: PurchaseWorkflowInput): Promise<PurchaseWorkflowResult> {
  await sleep('1 second');
  return order(input);
}

export const topupWorkflow = orderWorkflow;
export const vpnSubscriptionWorkflow = orderWorkflow;
export const cancellationWorkflow = orderWorkflow;

export async function webhookEndpointWorkflow(input: WebhookEndpointInput): Promise<WebhookEndpointResult> {
  await sleep('1 second');
  return endpoint(input);
}

/** The same change of a workflow that a schedule starts. */
function delayed<Result>(workflow: () => Promise<Result>): () => Promise<Result> {
  return async () => {
    await sleep('1 second');
    return workflow();
  };
}

export const reconcileWorkflow = delayed(upkeep.reconcileWorkflow);
export const sweepWorkflow = delayed(upkeep.sweepWorkflow);
export const booksWorkflow = delayed(upkeep.booksWorkflow);
export const watchWorkflow = delayed(upkeep.watchWorkflow);
export const catalogueWorkflow = delayed(upkeep.catalogueWorkflow);
