/** Queues deliveries again, because a person asks for it or an endpoint was enabled. */
import { and, asc, eq, gte, inArray, isNotNull, isNull, lte, ne, or, type SQL } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { addDeliveries } from '#db/events/webhook-deliveries.ts';
import { requestEndpointWake, type WebhookEndpointRow } from '#db/events/webhook-endpoints.ts';
import { events, webhookDeliveries, webhookEndpoints } from '#db/schema.ts';
import { selects, TEST_EVENT } from '#domain/events/event-filter.ts';
import { eventTypes } from '#domain/events/events.ts';

/** What is queued in one transaction, which is some megabytes. */
export const REPLAY_PIECE = 10_000;

/** Queues what an endpoint got, or should have got, once more. The endpoint is locked by the caller. */
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
 * Queues the next piece of what an endpoint missed, where it is to get it and has not yet. What is published meanwhile
 * is queued by whoever publishes, so the last piece is the end.
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
 * Queues one event once more, whatever the filter of the endpoint says. @returns false when there is no such event for
 * it.
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
        // A test of another endpoint is nobody else's.
        or(ne(events.type, TEST_EVENT), eq(events.subjectId, endpoint.id)),
      ),
    );
  if (event === undefined) return false;
  await queueAgain(tx, endpoint.id, [event.id], now);
  return true;
}

/**
 * Queues one delivery of an endpoint once more. @returns false when there is no such delivery, or its event is not kept
 * any more.
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

/** A person waits for it, so it is sent at once, although the endpoint may be waiting for the end of an outage. */
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
 * `all`: whatever its filter selects. `failed`: what was given up. `missed`: that, and what was never queued for it.
 */
type ReplayChoice = 'all' | 'failed' | 'missed';

export interface ReplayRange {
  readonly which: ReplayChoice;
  /** By when it happened, inclusive. */
  readonly since: Date;
  readonly until?: Date | undefined;
}

export interface Replay {
  readonly queued: number;
  /** When the first event happened that is not queued yet, because there were too many for one go. */
  readonly nextSince: Date | undefined;
}

export interface ReplayPiece {
  /** Deliveries queued at most. */
  readonly limit: number;
  readonly now: Date;
}
