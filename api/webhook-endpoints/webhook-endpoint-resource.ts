import type { ApiDependencies } from '#api/dependencies.ts';
import { instantJson } from '#api/fields/fields.ts';
import type { Caller } from '#api/http/operation.ts';
import { jsonReply, type Reply } from '#api/http/reply.ts';
import { requireFound } from '#api/problems/problem.ts';
import type { EndpointOutput } from '#api/webhook-endpoints/webhook-endpoint-schemas.ts';
import type { Executor } from '#db/connection/database.ts';
import { countPendingDeliveries } from '#db/events/webhook-deliveries.ts';
import { findWebhookEndpoint, type WebhookEndpointRow } from '#db/events/webhook-endpoints.ts';
import { type EndpointRequest, missedSince } from '#fulfilment/event-webhooks/manage-endpoint.ts';

export const ENDPOINTS_PATH = '/v1/webhook-endpoints';

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
