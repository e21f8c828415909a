import {
  condition,
  continueAsNew,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { DeliveryRound, WebhookActivities } from '#activities/webhooks/webhook-activities.ts';
import { PURCHASE_POLICY } from '#domain/policy/purchase-policy.ts';
import { counted } from '#domain/text.ts';
import { HANDLER_DESCRIPTIONS } from '#workflows/handler-descriptions.ts';
import {
  deliveriesWaitSignal,
  WEBHOOK_TASK_QUEUE,
  type WebhookEndpointInput,
  type WebhookEndpointResult,
} from '#workflows/messages.ts';
import { HEARTBEAT_TIMEOUT, upgradeWithWorkers } from '#workflows/options.ts';
import { SEARCH_ATTRIBUTES, WEBHOOK_STAGES } from '#workflows/search-attributes.ts';
import { WAIT_NAMES, type WaitName } from '#workflows/wait-names.ts';

/** The queue is in PostgreSQL: after a terminated run the next event, or the sweeper, starts a new one. */
export async function webhookEndpointWorkflow(input: WebhookEndpointInput): Promise<WebhookEndpointResult> {
  let isSignalled = false;
  let isUrgent = false;
  setHandler(
    deliveriesWaitSignal,
    ({ urgent }) => {
      isSignalled = true;
      isUrgent ||= urgent;
    },
    { description: HANDLER_DESCRIPTIONS.deliveriesWait },
  );
  // Repeated until it succeeds: a second run sends again only what a worker was sending when it died.
  const { deliverDue } = proxyActivities<WebhookActivities>({
    taskQueue: WEBHOOK_TASK_QUEUE,
    startToCloseTimeout: '2m',
    heartbeatTimeout: HEARTBEAT_TIMEOUT,
    retry: { initialInterval: '1s', maximumInterval: '30s' },
    summary: 'Send the deliveries that are due to the endpoint',
  });
  let storedKey = '';

  for (;;) {
    isSignalled = false;
    isUrgent = false;
    const round = await deliverDue(input);
    if (round.kind === 'waiting') {
      storedKey = display(input.endpointId, round, storedKey);
      // New events do not end the wait while the endpoint fails: they join the queue.
      const isHeld = round.failing?.isHeld === true;
      const waitMs = round.nextAt - Date.now();
      if (waitMs > 0)
        await condition(() => isUrgent || (isSignalled && !isHeld), waitMs, { summary: summaryOf(round) });
    } else if (!isSignalled) {
      // If a signal arrives now, the server refuses the end and the run goes on.
      return { ended: round.kind === 'idle' ? 'idle' : round.reason };
    }
    const { historyLength, continueAsNewSuggested } = workflowInfo();
    if (continueAsNewSuggested || historyLength >= PURCHASE_POLICY.historyLimit)
      await continueAsNew<typeof webhookEndpointWorkflow>(input);
  }
}
// A busy endpoint keeps its workflow running for as long as events arrive.
upgradeWithWorkers(webhookEndpointWorkflow);

const COMMAND = 'npx reseller webhook-endpoints';

type Waiting = Extract<DeliveryRound, { kind: 'waiting' }>;

function summaryOf({ failing }: Waiting): WaitName {
  if (failing === undefined) return WAIT_NAMES.delivery();
  return failing.isHeld ? WAIT_NAMES.failingEndpoint() : WAIT_NAMES.failedDelivery();
}

/**
 * Search attributes are written only when they change: each write is an event.
 * @param storedKey of the last call. @returns the key of what is stored now.
 */
function display(endpointId: string, { nextAt, pending, failing }: Waiting, storedKey: string): string {
  const stage = stageOf(failing);
  const isHeld = failing?.isHeld === true;
  const failingLines =
    failing === undefined
      ? []
      : [
          `**Failing since:** ${new Date(failing.since).toISOString()}`,
          '**What to do:** Ask the operators of the receiver. ' +
            `\`${COMMAND} deliveries ${endpointId}\` shows each try with its answer, and ` +
            `\`${COMMAND} test ${endpointId}\` sends a test event now.`,
        ];
  setCurrentDetails(
    [
      `### ${isHeld ? '⚠ ' : ''}${stage}`,
      failing === undefined
        ? 'Deliveries are queued.'
        : `${counted(failing.failures, 'try has', 'tries have')} failed in a row; the last time ${failing.last}.`,
      `**Queued:** ${counted(pending, 'delivery', 'deliveries')}`,
      `**Next try:** ${new Date(nextAt).toISOString()}`,
      ...failingLines,
    ].join('\n\n'),
  );
  const nextRetryAt = failing === undefined ? null : new Date(nextAt);
  const key = JSON.stringify([stage, nextRetryAt]);
  if (key === storedKey) return key;
  upsertSearchAttributes([
    { key: SEARCH_ATTRIBUTES.stage, value: stage },
    { key: SEARCH_ATTRIBUTES.needsAttention, value: isHeld },
    { key: SEARCH_ATTRIBUTES.nextRetryAt, value: nextRetryAt },
  ]);
  return key;
}

function stageOf(failing: Waiting['failing']): string {
  if (failing === undefined) return WEBHOOK_STAGES.delivering;
  return failing.isHeld ? WEBHOOK_STAGES.failing : WEBHOOK_STAGES.retrying;
}
