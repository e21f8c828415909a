/** What the calls about webhook endpoints share. */
import { addAuditEntry } from '#db/audit-log.ts';
import type { Executor } from '#db/database.ts';
import { findWebhookEndpoint, type WebhookEndpointRow } from '#db/webhook-endpoints.ts';
import { missedSince } from '#db/webhook-replays.ts';
import { mayExist } from '#api/fields.ts';
import type { Caller } from '#api/operation.ts';
import { Problem } from '#api/problem.ts';
import { instantJson } from '#api/representations.ts';
import type { EndpointOutput } from '#api/webhook-endpoint-schemas.ts';

export const ENDPOINTS_PATH = '/v1/webhook-endpoints';
export const ENDPOINTS_TAG = 'Webhook endpoints';

/** The endpoint, if it is one that the caller sees. @throws Problem webhook_endpoint_not_found */
export async function requireEndpoint(db: Executor, id: string, { ownerId }: Caller, options: { readonly lock?: boolean } = {}): Promise<WebhookEndpointRow> {
  const found = mayExist('webhookEndpoint', id) ? await findWebhookEndpoint(db, id, ownerId, options) : undefined;
  if (found === undefined) throw new Problem('webhook_endpoint_not_found');
  return found;
}

/** Writes down who did what with an endpoint. */
export async function auditEndpoint(tx: Executor, { apiKeyId: actor }: Caller, action: string, id: string, at: Date): Promise<void> {
  await addAuditEntry(tx, { actor, action: `webhook_endpoint.${action}`, subject: { kind: 'webhook_endpoint', id } }, at);
}

/** An endpoint as our API shows it. */
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
    own_work_only: row.ownerId !== null,
    created_by: row.apiKeyId,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}
