import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy, type Client } from '@temporalio/client';
import {
  deliveriesWaitSignal,
  TASK_QUEUE,
  WEBHOOK_ENDPOINT_WORKFLOW,
  webhookEndpointWorkflowId,
  type WebhookEndpointInput,
  type WebhookEndpointResult,
} from '#workflows/messages.ts';
import { SEARCH_ATTRIBUTES, WEBHOOK_PRODUCT, WEBHOOK_STAGES } from '#workflows/search-attributes.ts';

type EndpointWorkflow = (input: WebhookEndpointInput) => Promise<WebhookEndpointResult>;

/**
 * Signals the workflow of an endpoint that deliveries wait, and starts the workflow if none is running. Idempotent.
 */
export async function wakeEndpoint(
  client: Client,
  endpointId: string,
  wake: { readonly urgent: boolean },
): Promise<void> {
  await client.workflow.signalWithStart<EndpointWorkflow, [typeof wake]>(WEBHOOK_ENDPOINT_WORKFLOW, {
    workflowId: webhookEndpointWorkflowId(endpointId),
    taskQueue: TASK_QUEUE,
    args: [{ endpointId }],
    signal: deliveriesWaitSignal,
    signalArgs: [wake],
    // Each run ends when no delivery waits, so there are many runs with this id.
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
    typedSearchAttributes: [
      { key: SEARCH_ATTRIBUTES.product, value: WEBHOOK_PRODUCT },
      { key: SEARCH_ATTRIBUTES.stage, value: WEBHOOK_STAGES.delivering },
      { key: SEARCH_ATTRIBUTES.needsAttention, value: false },
    ],
    staticSummary: `Deliveries to ${endpointId}`,
    staticDetails: [
      'Delivers events to one webhook endpoint of an internal system until none waits.',
      '',
      `- Endpoint: \`${endpointId}\``,
      '',
      'Terminate and Reset are safe: the waiting deliveries are in PostgreSQL, and a new run is started for them.',
    ].join('\n'),
  });
}
