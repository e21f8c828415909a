/** Shared by the calls about webhook endpoints. */
import { mayExist } from '#api/fields/ids.ts';
import { instantJson } from '#api/fields/instant.ts';
import type { Caller } from '#api/http/operation.ts';
import { Problem } from '#api/problems/problem.ts';
import type { EndpointOutput } from '#api/webhook-endpoints/webhook-endpoint-schemas.ts';
import { addAuditEntry } from '#db/access/audit-log.ts';
import type { Executor } from '#db/connection/database.ts';
import { missedSince } from '#db/events/webhook-delivery-queries.ts';
import { findWebhookEndpoint, type WebhookEndpointRow } from '#db/events/webhook-endpoints.ts';

export const ENDPOINTS_PATH = '/v1/webhook-endpoints';
export const ENDPOINTS_TAG = 'Webhook endpoints';

/** Reads an endpoint that the caller may see. @throws Problem webhook_endpoint_not_found */
export async function requireEndpoint(
  db: Executor,
  id: string,
  { ownerId }: Caller,
  options: { readonly lock?: boolean } = {},
): Promise<WebhookEndpointRow> {
  const found = mayExist('webhookEndpoint', id) ? await findWebhookEndpoint(db, id, ownerId, options) : undefined;
  if (found === undefined) throw new Problem('webhook_endpoint_not_found');
  return found;
}

/**
 * Adds an audit entry about an endpoint. @param what the values that were set or changed, if the action alone does not
 * show them; no secrets.
 */
export async function auditEndpoint(
  tx: Executor,
  { apiKeyId: actor }: Caller,
  action: string,
  id: string,
  at: Date,
  what?: string,
): Promise<void> {
  const subject = { kind: 'webhook_endpoint', id } as const;
  await addAuditEntry(
    tx,
    { actor, action: `webhook_endpoint.${action}`, subject, ...(what !== undefined && { reason: what }) },
    at,
  );
}

type EndpointTerms = Pick<WebhookEndpointRow, 'url' | 'eventTypes' | 'description'>;

/**
 * The terms of a new endpoint, or the changes of an existing one, for the audit log. URLs are reduced to scheme, host
 * and port: path or query may contain a secret of the receiver. The description is free text and is omitted.
 *
 * @param former the terms before the change; undefined for a new endpoint. @returns parts separated by semicolons.
 */
export function endpointTermsText({ url, eventTypes, description }: EndpointTerms, former?: EndpointTerms): string {
  const to = (before: string | undefined, after: string) =>
    before === undefined ? after : `from ${before} to ${after}`;
  const [origin, formerOrigin] = [new URL(url).origin, former && new URL(former.url).origin];
  const [types, formerTypes] = [eventTypes.join(', '), former?.eventTypes.join(', ')];
  const parts = [
    url === former?.url
      ? ''
      : `url: ${origin === formerOrigin ? `another path or query at ${origin}` : to(formerOrigin, origin)}`,
    types === formerTypes ? '' : `event_types: ${to(formerTypes, types)}`,
    description === (former?.description ?? null) ? '' : 'description',
  ].filter((part) => part !== '');
  return parts.length === 0 ? 'nothing changed' : parts.join('; ');
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
