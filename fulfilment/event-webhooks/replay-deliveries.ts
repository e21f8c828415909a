/** Queues deliveries again, on request or after an endpoint was enabled. */
import { and, asc, eq, gte, inArray, isNotNull, isNull, lte, ne, or, type SQL } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { addDeliveries } from '#db/events/webhook-deliveries.ts';
import { requestEndpointWake, type WebhookEndpointRow } from '#db/events/webhook-endpoints.ts';
import { events, webhookDeliveries, webhookEndpoints } from '#db/schema.ts';
import { selects, TEST_EVENT } from '#domain/events/event-filter.ts';
import { eventTypes } from '#domain/events/event-types.ts';

/** Deliveries queued in one transaction: some megabytes. */
export const REPLAY_PIECE = 10_000;

/** Queues events of a range for an endpoint again. The caller holds the lock of the endpoint. */
export async function replayRange(
  tx: Executor,
  endpoint: WebhookEndpointRow,
  range: ReplayRange,
  { limit, now }: ReplayPiece,
): Promise<Replay> {
  const { ids, nextSince } = await findRange(tx, endpoint, range, limit);
  await queueAgain(tx, endpoint.id, ids, now);
  return { queued: ids.length, nextSince };
}

/**
 * Queues the next piece of the events that an endpoint missed. The publisher queues events that are published
 * meanwhile, so the last piece is the end.
 */
export async function queueMissed(tx: Executor, endpointId: string, { limit, now }: ReplayPiece): Promise<void> {
  const [endpoint] = await tx
    .select()
    .from(webhookEndpoints)
    .where(eq(webhookEndpoints.id, endpointId))
    .for('no key update');
  if (
    endpoint === undefined ||
    endpoint.missedSince === null ||
    endpoint.disabledAt !== null ||
    endpoint.deletedAt !== null
  )
    return;
  const { ids, nextSince } = await findRange(tx, endpoint, { which: 'missed', since: endpoint.missedSince }, limit);
  await addDeliveries(
    tx,
    ids.map((eventId) => ({ endpointId, eventId })),
    now,
  );
  await tx
    .update(webhookEndpoints)
    .set({ missedSince: nextSince ?? null })
    .where(eq(webhookEndpoints.id, endpointId));
}

async function findRange(
  tx: Executor,
  endpoint: WebhookEndpointRow,
  { which, since, until }: ReplayRange,
  limit: number,
): Promise<{ readonly ids: readonly string[]; readonly nextSince: Date | undefined }> {
  const types = eventTypes.filter((type) => type !== TEST_EVENT && selects(endpoint.eventTypes, type));
  const of = and(eq(webhookDeliveries.eventId, events.id), eq(webhookDeliveries.endpointId, endpoint.id));
  const found = await tx
    .select({ id: events.id, occurredAt: events.occurredAt })
    .from(events)
    .leftJoin(webhookDeliveries, of)
    .where(
      and(
        isNotNull(events.position),
        gte(events.occurredAt, since),
        until === undefined ? undefined : lte(events.occurredAt, until),
        inArray(events.type, types),
        endpoint.ownerId === null ? undefined : eq(events.apiKeyId, endpoint.ownerId),
        chosen(which),
      ),
    )
    .orderBy(asc(events.occurredAt), asc(events.sequence))
    .limit(limit + 1);
  return { ids: found.slice(0, limit).map(({ id }) => id), nextSince: found[limit]?.occurredAt };
}

/**
 * Queues one event again, whatever the filter of the endpoint is.
 * @returns false when there is no such event for it.
 */
export async function replayEvent(
  tx: Executor,
  endpoint: WebhookEndpointRow,
  eventId: string,
  now: Date,
): Promise<boolean> {
  const [event] = await tx
    .select({ id: events.id })
    .from(events)
    .where(
      and(
        eq(events.id, eventId),
        isNotNull(events.position),
        endpoint.ownerId === null ? undefined : eq(events.apiKeyId, endpoint.ownerId),
        // A test belongs to one endpoint.
        or(ne(events.type, TEST_EVENT), eq(events.subjectId, endpoint.id)),
      ),
    );
  if (event === undefined) return false;
  await queueAgain(tx, endpoint.id, [event.id], now);
  return true;
}

/**
 * Queues one delivery of an endpoint again.
 * @returns false when there is no such delivery, or its event was deleted.
 */
export async function replayDelivery(
  tx: Executor,
  { id }: WebhookEndpointRow,
  deliveryId: string,
  now: Date,
): Promise<boolean> {
  const [found] = await tx
    .select({ eventId: webhookDeliveries.eventId })
    .from(webhookDeliveries)
    .innerJoin(events, eq(events.id, webhookDeliveries.eventId))
    .where(and(eq(webhookDeliveries.id, deliveryId), eq(webhookDeliveries.endpointId, id)));
  if (found === undefined) return false;
  await queueAgain(tx, id, [found.eventId], now);
  return true;
}

/** Sent at once, even while the endpoint waits for the end of an outage: a caller waits for the result. */
async function queueAgain(tx: Executor, endpointId: string, eventIds: readonly string[], now: Date): Promise<void> {
  if (eventIds.length === 0) return;
  await tx.update(webhookEndpoints).set({ retryAt: null }).where(eq(webhookEndpoints.id, endpointId));
  await requestEndpointWake(tx, [endpointId], { urgent: true });
  await addDeliveries(
    tx,
    eventIds.map((eventId) => ({ endpointId, eventId })),
    now,
  );
}

function chosen(which: ReplayChoice): SQL | undefined {
  if (which === 'failed') return eq(webhookDeliveries.state, 'failed');
  return which === 'missed' ? or(isNull(webhookDeliveries.id), eq(webhookDeliveries.state, 'failed')) : undefined;
}

/**
 * `all`: every event that its filter selects. `failed`: deliveries that were given up. `missed`: those, and events that
 * were never queued for it.
 */
type ReplayChoice = 'all' | 'failed' | 'missed';

export interface ReplayRange {
  readonly which: ReplayChoice;
  /** Time of the event, inclusive. */
  readonly since: Date;
  readonly until?: Date | undefined;
}

export interface Replay {
  readonly queued: number;
  /** Time of the first event that is not queued yet, when there were too many for one call. */
  readonly nextSince: Date | undefined;
}

export interface ReplayPiece {
  /** Deliveries queued at most. */
  readonly limit: number;
  readonly now: Date;
}
