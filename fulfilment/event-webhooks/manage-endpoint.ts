/** Each action locks the endpoint and adds an audit entry, in the caller's transaction. */
import { and, between, eq, gt, gte, min } from 'drizzle-orm';
import type { KeyRing } from '#crypto/key-ring.ts';
import { generateWebhookSecret } from '#crypto/webhook-signatures.ts';
import { addAuditEntry } from '#db/access/audit-log.ts';
import type { Executor } from '#db/connection/database.ts';
import { newId } from '#db/connection/ids.ts';
import { holdPublication, recordEvent } from '#db/events/event-log.ts';
import {
  addEndpointSecret,
  changeWebhookEndpoint,
  countWebhookEndpoints,
  endEndpointSecrets,
  findWebhookEndpoint,
  type EndpointTerms,
  type NewWebhookEndpoint,
  type WebhookEndpointRow,
} from '#db/events/webhook-endpoints.ts';
import type { Owner } from '#db/lists/ownership.ts';
import { events, webhookDeliveries, webhookEndpoints } from '#db/schema.ts';
import { TEST_EVENT } from '#domain/events/event-types.ts';
import { DAY } from '#domain/policy/settings.ts';
import { isSelected, queueMissed, REPLAY_PIECE } from '#fulfilment/event-webhooks/queue-deliveries.ts';
import {
  deleteWebhookEndpoint,
  disableWebhookEndpoint,
  enableWebhookEndpoint,
  startAtNewAddress,
} from '#fulfilment/event-webhooks/record-try.ts';

/** Every event is queued for every endpoint. Keys limited to their own work have a separate limit each. */
const MAX_ENDPOINTS = 100;

export interface EndpointRequest {
  readonly id: string;
  readonly owner: Owner;
  readonly actor: string;
  readonly now: Date;
}

/** The API answers with the problem of this code. */
export class EndpointRefusedError extends Error {
  readonly code: `webhook_endpoint_${'not_found' | 'disabled' | 'limit'}`;

  constructor(code: EndpointRefusedError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** @throws EndpointRefusedError when the owner has as many as possible. */
export async function createEndpoint(
  tx: Executor,
  keyRing: KeyRing,
  endpoint: NewWebhookEndpoint,
  { actor, now }: Pick<EndpointRequest, 'actor' | 'now'>,
): Promise<{ readonly row: WebhookEndpointRow; readonly secret: string }> {
  if ((await countWebhookEndpoints(tx, endpoint.ownerId)) >= MAX_ENDPOINTS)
    throw new EndpointRefusedError('webhook_endpoint_limit', `There are ${MAX_ENDPOINTS}.`);
  const secret = generateWebhookSecret();
  const row = await addWebhookEndpoint(tx, keyRing, endpoint, secret, now);
  await audit(tx, { id: row.id, actor, now }, 'create', termsText(row));
  return { row, secret };
}

export async function addWebhookEndpoint(
  tx: Executor,
  keyRing: KeyRing,
  endpoint: NewWebhookEndpoint,
  secret: string,
  now: Date,
): Promise<WebhookEndpointRow> {
  const [row] = await tx
    .insert(webhookEndpoints)
    .values({
      ...endpoint,
      id: newId('webhookEndpoint'),
      ownerId: endpoint.ownerId ?? null,
      eventTypes: [...endpoint.eventTypes],
      createdAt: now,
      updatedAt: now,
    })
    .returning();
  if (row === undefined) throw new Error('an inserted row was not returned');
  await addEndpointSecret(tx, keyRing, row.id, secret, now);
  return row;
}

/** Waiting deliveries go to a new address. @throws EndpointRefusedError when the owner has no such endpoint. */
export async function changeEndpoint(
  tx: Executor,
  request: EndpointRequest,
  change: { readonly [Name in keyof EndpointTerms]?: EndpointTerms[Name] | undefined },
): Promise<void> {
  const former = await lockEndpoint(tx, request);
  const { url = former.url, eventTypes = former.eventTypes, description = former.description } = change;
  const terms = { url, eventTypes, description };
  await audit(tx, request, 'update', termsText(terms, former));
  await changeWebhookEndpoint(tx, former.id, terms, request.now);
  if (url !== former.url) await startAtNewAddress(tx, former, request.now);
}

export async function removeEndpoint(tx: Executor, request: EndpointRequest): Promise<void> {
  const { id } = await lockEndpoint(tx, request);
  await audit(tx, request, 'delete');
  await deleteWebhookEndpoint(tx, id, request.now);
}

/**
 * On an endpoint that we disabled, records that the caller knows it. @throws EndpointRefusedError when it is not the
 * owner's.
 */
export async function disableEndpoint(tx: Executor, request: EndpointRequest): Promise<void> {
  const found = await lockEndpoint(tx, request);
  if (found.disabledReason === 'request') return;
  await audit(tx, request, 'disable');
  await disableWebhookEndpoint(tx, found.id, 'request', request.now);
}

/** Queues the first piece of the missed events. @throws EndpointRefusedError when the owner has no such endpoint. */
export async function enableEndpoint(
  tx: Executor,
  request: EndpointRequest,
  { replayMissed }: { readonly replayMissed: boolean },
): Promise<void> {
  // An event published meanwhile would be neither queued nor recorded as missed. Take this lock first, in the order of
  // the publisher.
  await holdPublication(tx);
  const found = await lockEndpoint(tx, request);
  if (found.disabledAt === null) return;
  await audit(tx, request, 'enable');
  const since = replayMissed ? await missedSince(tx, found) : undefined;
  await enableWebhookEndpoint(tx, found.id, since, request.now);
  await queueMissed(tx, found.id, { limit: REPLAY_PIECE, now: request.now });
}

/**
 * Former secrets sign beside it until their overlap ends. A shorter overlap also shortens those of earlier rotations:
 * it probably means that a secret leaked. @throws EndpointRefusedError
 */
export async function rotateEndpointSecret(
  tx: Executor,
  keyRing: KeyRing,
  request: EndpointRequest,
  overlapMs: number,
): Promise<{ readonly secret: string; readonly until: Date }> {
  const { id } = await lockEndpoint(tx, request);
  await audit(tx, request, 'rotate_secret');
  const { now } = request;
  const secret = generateWebhookSecret();
  const until = new Date(now.getTime() + overlapMs);
  await endEndpointSecrets(tx, id, { until, now });
  await addEndpointSecret(tx, keyRing, id, secret, now);
  await changeWebhookEndpoint(tx, id, {}, now);
  return { secret, until };
}

/** @throws EndpointRefusedError when the endpoint does not exist, or is disabled. */
export async function sendTestEvent(tx: Executor, request: EndpointRequest): Promise<string> {
  const { id, apiKeyId } = await lockEnabledEndpoint(tx, request);
  await audit(tx, request, 'test');
  const subject = { kind: 'webhook_endpoint', id } as const;
  return recordEvent(tx, { type: TEST_EVENT, subject, apiKeyId, data: { message: 'This is a test.' } }, request.now);
}

export async function beginReplay(tx: Executor, request: EndpointRequest): Promise<WebhookEndpointRow> {
  const found = await lockEnabledEndpoint(tx, request);
  await audit(tx, request, 'replay');
  return found;
}

async function lockEndpoint(tx: Executor, { id, owner }: EndpointRequest): Promise<WebhookEndpointRow> {
  const found = await findWebhookEndpoint(tx, id, owner, { lock: true });
  if (found === undefined)
    throw new EndpointRefusedError('webhook_endpoint_not_found', `Webhook endpoint ${id} does not exist.`);
  return found;
}

async function lockEnabledEndpoint(tx: Executor, request: EndpointRequest): Promise<WebhookEndpointRow> {
  const found = await lockEndpoint(tx, request);
  if (found.disabledAt !== null)
    throw new EndpointRefusedError('webhook_endpoint_disabled', `Webhook endpoint ${request.id} is disabled.`);
  return found;
}

/** `what` must hold no secrets. */
async function audit(
  tx: Executor,
  { id, actor, now }: Pick<EndpointRequest, 'id' | 'actor' | 'now'>,
  action: string,
  what?: string,
): Promise<void> {
  const subject = { kind: 'webhook_endpoint', id } as const;
  const reason = what !== undefined && { reason: what };
  await addAuditEntry(tx, { actor, action: `webhook_endpoint.${action}`, subject, ...reason }, now);
}

/**
 * URLs are reduced to scheme, host and port: path or query may contain a secret of the receiver. The description is
 * free text and is omitted.
 */
function termsText({ url, eventTypes, description }: EndpointTerms, former?: EndpointTerms): string {
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

/** An event that is published later than this after it occurred is not found. A delivery is retried as long. */
const LATE_MS = 3 * DAY;

/** The replay starts there. An enabled endpoint has missed the events that are not queued yet. */
export async function missedSince(db: Executor, endpoint: WebhookEndpointRow): Promise<Date | undefined> {
  const { id, disabledAt, disabledAfter, failingSince, missedSince: left } = endpoint;
  if (disabledAt === null) return left ?? undefined;
  // During an outage some deliveries were given up before the endpoint was disabled.
  const since = failingSince !== null && failingSince < disabledAt ? failingSince : disabledAt;
  const [found] = await db
    .select({ at: min(events.occurredAt) })
    .from(webhookDeliveries)
    .innerJoin(events, eq(events.id, webhookDeliveries.eventId))
    .where(
      and(
        eq(webhookDeliveries.endpointId, id),
        eq(webhookDeliveries.state, 'failed'),
        gte(webhookDeliveries.endedAt, since),
      ),
    );
  // Published after it was disabled, and from before.
  const [late] = await db
    .select({ at: min(events.occurredAt) })
    .from(events)
    .where(
      and(
        gt(events.position, disabledAfter ?? 0n),
        between(events.occurredAt, new Date(disabledAt.getTime() - LATE_MS), disabledAt),
        isSelected(endpoint),
      ),
    );
  // Events that were not queued yet at a further disabling are missed, too.
  return [found?.at, late?.at, left].reduce<Date>(
    (oldest, at) => (at != null && at < oldest ? at : oldest),
    disabledAt,
  );
}
