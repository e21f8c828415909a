import {
  condition,
  continueAsNew,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { DeliveryRound, WebhookActivities } from '#activities/webhooks/webhook-types.ts';
import { DEFAULT_WORKFLOW_POLICY } from '#domain/policy/workflow-policy.ts';
import { HEARTBEAT_TIMEOUT } from '#workflows/activity-options.ts';
import {
  deliveriesWaitSignal,
  WEBHOOK_TASK_QUEUE,
  type WebhookEndpointInput,
  type WebhookEndpointResult,
} from '#workflows/messages.ts';
import { HANDLER_DESCRIPTIONS } from '#workflows/operator/handler-descriptions.ts';
import { SEARCH_ATTRIBUTES, WEBHOOK_STAGES } from '#workflows/search-attributes.ts';
import { WAIT_NAMES, type WaitName } from '#workflows/wait-names.ts';

// Run twice it sends nothing twice, but for what a worker had in hand that died; so it is repeated until it can be run.
const { deliverDue } = proxyActivities<WebhookActivities>({
  taskQueue: WEBHOOK_TASK_QUEUE,
  startToCloseTimeout: '2m',
  heartbeatTimeout: HEARTBEAT_TIMEOUT,
  retry: { initialInterval: '1s', maximumInterval: '30s' },
});

/**
 * Delivers events to one webhook endpoint, for as long as any wait for it. What waits, and since when, stands in
 * PostgreSQL: a run that is terminated is started anew with the next event, or by the sweeper, and goes on from there.
 */
export async function webhookEndpointWorkflow(input: WebhookEndpointInput): Promise<WebhookEndpointResult> {
  let isTold = false;
  let isUrgent = false;
  setHandler(
    deliveriesWaitSignal,
    ({ urgent }) => {
      isTold = true;
      isUrgent ||= urgent;
    },
    { description: HANDLER_DESCRIPTIONS.deliveriesWait },
  );
  const board = new Board();

  for (;;) {
    isTold = false;
    isUrgent = false;
    const round = await deliverDue(input);
    if (round.kind === 'waiting') {
      board.show(round);
      // An outage is waited out whatever comes meanwhile: it would only be added to what waits.
      const isHeld = round.failing?.isHeld === true;
      const waitMs = round.nextAt - Date.now();
      if (waitMs > 0) await condition(() => isUrgent || (isTold && !isHeld), waitMs, { summary: summaryOf(round) });
    } else if (!isTold) {
      // Should a signal come at this very moment, the server refuses the end, and the run goes on.
      return { ended: round.kind === 'idle' ? 'idle' : round.why };
    }
    const { historyLength, continueAsNewSuggested } = workflowInfo();
    if (continueAsNewSuggested || historyLength >= DEFAULT_WORKFLOW_POLICY.historyLimit)
      await continueAsNew<typeof webhookEndpointWorkflow>(input);
  }
}

type Waiting = Extract<DeliveryRound, { kind: 'waiting' }>;

function summaryOf({ failing }: Waiting): WaitName {
  if (failing === undefined) return WAIT_NAMES.delivery();
  return failing.isHeld ? WAIT_NAMES.failingEndpoint() : WAIT_NAMES.failedDelivery();
}

/**
 * What operators see of the endpoint in the Temporal UI. Search attributes are written only when they change: each
 * write is an event.
 */
class Board {
  #shown = '';

  show({ nextAt, pending, failing }: Waiting): void {
    const stage = stageOf(failing);
    setCurrentDetails(
      [
        `### ${failing?.isHeld === true ? '⚠ ' : ''}${stage}`,
        '',
        failing === undefined
          ? 'Deliveries wait for their time.'
          : `The last ${failing.failures} tries failed; the last time ${failing.last}.`,
        '',
        `**Waiting:** ${pending} deliveries`,
        '',
        `**Next try:** ${new Date(nextAt).toISOString()}`,
        ...(failing === undefined ? [] : ['', `**Failing since:** ${new Date(failing.since).toISOString()}`]),
        ...(failing === undefined
          ? []
          : [
              '',
              '**What to do:** Ask whoever runs the receiver. `GET /v1/webhook-endpoints/{id}/deliveries` shows each try with what was answered.',
            ]),
      ].join('\n'),
    );
    const key = JSON.stringify([stage, failing === undefined ? null : nextAt]);
    if (key === this.#shown) return;
    this.#shown = key;
    upsertSearchAttributes([
      { key: SEARCH_ATTRIBUTES.stage, value: stage },
      { key: SEARCH_ATTRIBUTES.needsAttention, value: failing?.isHeld === true },
      { key: SEARCH_ATTRIBUTES.nextRetryAt, value: failing === undefined ? null : new Date(nextAt) },
    ]);
  }
}

function stageOf(failing: Waiting['failing']): string {
  if (failing === undefined) return WEBHOOK_STAGES.delivering;
  return failing.isHeld ? WEBHOOK_STAGES.failing : WEBHOOK_STAGES.retrying;
}
