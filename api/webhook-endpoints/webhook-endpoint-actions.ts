import * as z from 'zod';
import type { ApiDependencies } from '#api/dependencies.ts';
import { idInPath, idInput, instantJson } from '#api/fields/fields.ts';
import { answerOnce } from '#api/http/idempotency.ts';
import { type Caller, jsonAnswer, type Operation, operation } from '#api/http/operation.ts';
import { jsonReply, type Reply } from '#api/http/reply.ts';
import { CURSORS } from '#api/lists/cursor.ts';
import { pageOf, pageQuery, pageReply } from '#api/lists/lists.ts';
import { Problem, requireFound } from '#api/problems/problem.ts';
import {
  deliveryOutput,
  deliveryState,
  enableInput,
  type EndpointOutput,
  endpointOutput,
  replayInput,
  replayOutput,
  testOutput,
} from '#api/webhook-endpoints/webhook-endpoint-schemas.ts';
import { DecryptionError, type KeyRing } from '#crypto/key-ring.ts';
import type { Executor } from '#db/connection/database.ts';
import { excerptAad } from '#db/encryption-aads.ts';
import {
  countPendingDeliveries,
  type DeliveryWithTries,
  listDeliveries,
  type WebhookTryRow,
} from '#db/events/webhook-deliveries.ts';
import { findWebhookEndpoint, type WebhookEndpointRow } from '#db/events/webhook-endpoints.ts';
import { TEST_EVENT } from '#domain/events/event-types.ts';
import {
  beginReplay,
  disableEndpoint,
  enableEndpoint,
  type EndpointRequest,
  missedSince,
  sendTestEvent,
} from '#fulfilment/event-webhooks/manage-endpoint.ts';
import {
  type Replay,
  REPLAY_PIECE,
  replayDelivery,
  replayEvent,
  replayRange,
} from '#fulfilment/event-webhooks/queue-deliveries.ts';

export const ENDPOINTS_PATH = '/v1/webhook-endpoints';

const params = idInPath('webhookEndpoint');

export function webhookEndpointActions(dependencies: ApiDependencies): Operation[] {
  const { now } = dependencies;
  const changing = {
    scope: 'webhook_endpoints:write',
    params,
    answers: { 200: jsonAnswer('The endpoint.', endpointOutput) },
  } as const;
  return [
    operation(`POST ${ENDPOINTS_PATH}/{id}/disable`, {
      ...changing,
      id: 'disableWebhookEndpoint',
      summary: 'Stop sending events to a webhook endpoint',
      description:
        'Waiting deliveries end as failed; `/enable` can send them later. For an endpoint that we have disabled, ' +
        'it records that you know it, which ends the alert.',
      handle: ({ params: { id }, caller }) => changeAndShow(dependencies, caller, id, disableEndpoint),
    }),
    operation(`POST ${ENDPOINTS_PATH}/{id}/enable`, {
      ...changing,
      id: 'enableWebhookEndpoint',
      summary: 'Send events to a webhook endpoint again',
      description:
        'With `replay_missed` also missed events: about 10,000 are queued at once, the others while ' +
        'these are delivered. `missed_since` shows the start of ' +
        'the remaining ones until all are queued. An enabled endpoint is not changed.',
      body: enableInput,
      handle: ({ params: { id }, body, caller }) =>
        changeAndShow(dependencies, caller, id, (tx, request) =>
          enableEndpoint(tx, request, { replayMissed: body.replay_missed }),
        ),
    }),
    operation(`POST ${ENDPOINTS_PATH}/{id}/test`, {
      ...changing,
      id: 'testWebhookEndpoint',
      summary: 'Send a test event to a webhook endpoint',
      description:
        `An event \`${TEST_EVENT}\` is sent like every event, to this endpoint only, also if its ` +
        'filter does not select it, and also while it fails. The delivery with its `event_id` shows the result.',
      idempotent: true,
      answers: { 202: jsonAnswer('It is queued.', testOutput) },
      problems: ['webhook_endpoint_disabled'],
      handle: async (request) => {
        const change = endpointRequest(request.caller, request.params.id, now());
        return answerOnce(dependencies, request, async (tx) =>
          jsonReply(202, { event_id: await sendTestEvent(tx, change), queued: 1, next_since: null }),
        );
      },
    }),
    operation(`POST ${ENDPOINTS_PATH}/{id}/replay`, {
      ...changing,
      id: 'replayWebhooks',
      summary: 'Replay events to a webhook endpoint',
      description:
        'One event, one delivery, or events since a time: all, failed or missed ones. They have their former ' +
        '`webhook-id`, so a receiver that ignores known ids does nothing twice.',
      idempotent: true,
      body: replayInput,
      bodyExample: { since: '2026-01-31T00:00:00Z', which: 'failed' },
      heavy: 'many',
      answers: { 202: jsonAnswer('The deliveries are queued.', replayOutput) },
      problems: ['webhook_endpoint_disabled', 'event_not_found', 'webhook_delivery_not_found'],
      handle: async (request) => {
        const change = endpointRequest(request.caller, request.params.id, now());
        return answerOnce(dependencies, request, async (tx) => {
          const endpoint = await beginReplay(tx, change);
          const { queued, nextSince } = await replay(tx, endpoint, request.body, change.now);
          return jsonReply(202, { queued, next_since: instantJson(nextSince ?? null) });
        });
      },
    }),
  ];
}

async function replay(
  tx: Executor,
  endpoint: WebhookEndpointRow,
  request: z.output<typeof replayInput>,
  now: Date,
): Promise<Replay> {
  const { event_id: eventId, delivery_id: deliveryId, since, until, which = 'all' } = request;
  if (since !== undefined) return replayRange(tx, endpoint, { which, since, until }, { limit: REPLAY_PIECE, now });
  if (eventId !== undefined && !(await replayEvent(tx, endpoint, eventId, now))) throw new Problem('event_not_found');
  if (deliveryId !== undefined && !(await replayDelivery(tx, endpoint, deliveryId, now)))
    throw new Problem('webhook_delivery_not_found');
  return { queued: 1, nextSince: undefined };
}

export function webhookDeliveryOperation({ database, keyRing }: ApiDependencies): Operation {
  return operation(`GET ${ENDPOINTS_PATH}/{id}/deliveries`, {
    id: 'listWebhookDeliveries',
    summary: 'List the deliveries of a webhook endpoint with each try, newest first',
    description: 'Ended deliveries are stored for some weeks.',
    scope: 'webhook_endpoints:read',
    params,
    query: z.strictObject({ status: deliveryState.optional(), event_id: idInput('event').optional(), ...pageQuery }),
    answers: { 200: jsonAnswer('A page of deliveries.', pageOf(deliveryOutput, 'WebhookDeliveryPage')) },
    handle: async ({ params: { id }, query, caller }) => {
      const { retryAt } = await database.run((db) => requireEndpoint(db, id, caller));
      const filter = { state: query.status, eventId: query.event_id };
      return pageReply(
        query,
        CURSORS.webhookDelivery,
        (at) => database.run((db) => listDeliveries(db, id, filter, at)),
        (view) => deliveryJson(keyRing, view, retryAt),
      );
    },
  });
}

/** @param notBefore time of the next send to the endpoint as a whole. */
function deliveryJson(
  keyRing: KeyRing,
  { delivery, eventType, tries }: DeliveryWithTries,
  notBefore: Date | null,
): z.input<typeof deliveryOutput> {
  const { nextTryAt } = delivery;
  const isTest = eventType === TEST_EVENT && delivery.failedTries === 0;
  const isHeld = nextTryAt !== null && notBefore !== null && notBefore > nextTryAt && !isTest;
  return {
    id: delivery.id,
    endpoint_id: delivery.endpointId,
    event_id: delivery.eventId,
    event_type: eventType,
    status: delivery.state,
    tries: delivery.tries,
    next_try_at: instantJson(isHeld ? notBefore : nextTryAt),
    created_at: delivery.createdAt.toISOString(),
    ended_at: instantJson(delivery.endedAt),
    log: tries.map((each) => ({
      number: each.number,
      at: each.at.toISOString(),
      duration_ms: each.durationMs,
      status: each.status,
      failure: each.failure,
      answer_excerpt: excerptOf(keyRing, each),
    })),
  };
}

/** Null when the key of the excerpt is no longer in the key ring; the rest of the log can be read. */
function excerptOf(keyRing: KeyRing, row: WebhookTryRow): string | null {
  if (row.encryptedExcerpt === null) return null;
  try {
    return keyRing.decryptText(row.encryptedExcerpt, excerptAad(row));
  } catch (error) {
    if (error instanceof DecryptionError) return null;
    throw error;
  }
}

/** @throws Problem webhook_endpoint_not_found */
export async function requireEndpoint(db: Executor, id: string, { ownerId }: Caller): Promise<WebhookEndpointRow> {
  return requireFound(await findWebhookEndpoint(db, id, ownerId), 'webhook_endpoint_not_found');
}

export function endpointRequest({ ownerId: owner, apiKeyId: actor }: Caller, id: string, now: number): EndpointRequest {
  return { id, owner, actor, now: new Date(now) };
}

/** @throws Problem, EndpointRefusedError */
export async function changeAndShow(
  { database, now }: ApiDependencies,
  caller: Caller,
  id: string,
  change: (tx: Executor, request: EndpointRequest) => Promise<void>,
): Promise<Reply> {
  const request = endpointRequest(caller, id, now());
  const shown = await database.transaction(async (tx) => {
    await change(tx, request);
    return endpointJson(tx, await requireEndpoint(tx, id, caller));
  });
  return jsonReply(200, shown);
}

export async function endpointJson(db: Executor, row: WebhookEndpointRow): Promise<EndpointOutput> {
  return {
    id: row.id,
    url: row.url,
    event_types: row.eventTypes,
    description: row.description,
    status: row.disabledAt === null ? 'enabled' : 'disabled',
    disabled_reason: row.disabledReason,
    disabled_at: instantJson(row.disabledAt),
    missed_since: instantJson((await missedSince(db, row)) ?? null),
    failing_since: instantJson(row.failingSince),
    failures: row.failures,
    last_failure: row.lastFailure,
    last_delivered_at: instantJson(row.lastDeliveredAt),
    pending_deliveries: await countPendingDeliveries(db, row.id),
    own_work_only: row.ownerId !== null,
    created_by: row.apiKeyId,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}
