import {
  and,
  asc,
  eq,
  exists,
  gte,
  inArray,
  isNotNull,
  isNull,
  lte,
  ne,
  notExists,
  or,
  type SQL,
  sql,
} from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import type { PublishedEvent } from '#db/events/event-log.ts';
import { addDeliveries, givenUp } from '#db/events/webhook-deliveries.ts';
import { isReceiving, requestEndpointWake, type WebhookEndpointRow } from '#db/events/webhook-endpoints.ts';
import { events, webhookDeliveries, webhookEndpoints } from '#db/schema.ts';
import { eventTypes, selects, TEST_EVENT } from '#domain/events/event-types.ts';

/** In the transaction that publishes: an event with a position is queued, and no other transaction waits for it. */
export async function queueDeliveries(tx: Executor, published: readonly PublishedEvent[], now: Date): Promise<void> {
  if (published.length === 0) return;
  const receivers = await tx
    .select({ id: webhookEndpoints.id, ownerId: webhookEndpoints.ownerId, eventTypes: webhookEndpoints.eventTypes })
    .from(webhookEndpoints)
    .where(isReceiving);
  const pairs = receivers.flatMap((endpoint) =>
    published
      .filter((event) => isFor(endpoint, event))
      .map((event) => ({ endpointId: endpoint.id, eventId: event.id })),
  );
  const tested = new Set(published.filter(({ type }) => type === TEST_EVENT).map(({ subjectId }) => subjectId));
  const ids = Map.groupBy(new Set(pairs.map(({ endpointId }) => endpointId)), (id) => tested.has(id));
  for (const [urgent, some] of ids) await requestEndpointWake(tx, some, { urgent });
  await addDeliveries(tx, pairs, now);
}

/** A test goes to its endpoint only. An endpoint with an owner gets only the events of the owner's work. */
function isFor(
  { id, ownerId, eventTypes: patterns }: Pick<WebhookEndpointRow, 'id' | 'ownerId' | 'eventTypes'>,
  { type, subjectId, apiKeyId }: PublishedEvent,
): boolean {
  if (type === TEST_EVENT) return subjectId === id;
  return (ownerId === null || apiKeyId === ownerId) && selects(patterns, type);
}

/** Deliveries queued in one transaction: some megabytes. */
export const REPLAY_PIECE = 10_000;

/** The caller holds the lock of the endpoint. */
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

/** The publisher queues events that are published meanwhile, so the last piece is the end. */
export async function queueMissed(tx: Executor, endpointId: string, { limit, now }: ReplayPiece): Promise<void> {
  const endpoint = await lockEndpointById(tx, endpointId);
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

/** Also one that is deleted. `no key` does not block new deliveries, which reference it. */
export async function lockEndpointById(tx: Executor, id: string): Promise<WebhookEndpointRow | undefined> {
  const [row] = await tx.select().from(webhookEndpoints).where(eq(webhookEndpoints.id, id)).for('no key update');
  return row;
}

/** The events that the endpoint gets, apart from tests. */
export function isSelected({ eventTypes: patterns, ownerId }: WebhookEndpointRow): SQL | undefined {
  const types = eventTypes.filter((type) => type !== TEST_EVENT && selects(patterns, type));
  return and(inArray(events.type, types), ownerId === null ? undefined : eq(events.apiKeyId, ownerId));
}

async function findRange(
  tx: Executor,
  endpoint: WebhookEndpointRow,
  { which, since, until }: ReplayRange,
  limit: number,
): Promise<{ readonly ids: readonly string[]; readonly nextSince: Date | undefined }> {
  const of = and(eq(webhookDeliveries.eventId, events.id), eq(webhookDeliveries.endpointId, endpoint.id));
  const read = (until: Date | undefined) =>
    tx
      .select({ id: events.id, occurredAt: events.occurredAt })
      .from(events)
      .leftJoin(webhookDeliveries, of)
      .where(
        and(
          isNotNull(events.position),
          gte(events.occurredAt, since),
          until === undefined ? undefined : lte(events.occurredAt, until),
          isSelected(endpoint),
          chosen(which),
        ),
      )
      .orderBy(asc(events.occurredAt), asc(events.sequence))
      .$dynamic();
  const found = await read(until).limit(limit + 1);
  const nextSince = found[limit]?.occurredAt;
  if (nextSince === undefined) return { ids: found.map(({ id }) => id), nextSince };
  // Whole instants: the next piece begins at an instant, so this one ends before it.
  const before = found.filter(({ occurredAt }) => occurredAt < nextSince);
  if (before.length > 0) return { ids: before.map(({ id }) => id), nextSince };
  const same = await read(nextSince);
  return { ids: same.map(({ id }) => id), nextSince: new Date(nextSince.getTime() + 1) };
}

/** The filter of the endpoint does not apply. @returns false when there is no such event for it. */
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
        or(ne(events.type, TEST_EVENT), eq(events.subjectId, endpoint.id)),
      ),
    );
  if (event === undefined) return false;
  await queueAgain(tx, endpoint.id, [event.id], now);
  return true;
}

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

function chosen(which: ReplayRange['which']): SQL | undefined {
  if (which === 'failed') return eq(webhookDeliveries.state, 'failed');
  return which === 'missed' ? or(isNull(webhookDeliveries.id), eq(webhookDeliveries.state, 'failed')) : undefined;
}

interface ReplayRange {
  /** `failed`: deliveries that were given up. `missed`: those, and events that were never queued. */
  readonly which: 'all' | 'failed' | 'missed';
  /** Inclusive. */
  readonly since: Date;
  readonly until?: Date | undefined;
}

export interface Replay {
  readonly queued: number;
  /** Set when there were too many for one call. */
  readonly nextSince: Date | undefined;
}

interface ReplayPiece {
  readonly limit: number;
  readonly now: Date;
}

/** @returns how many; fewer than `batch` means that none are left. */
export async function giveUpDeliveries(tx: Executor, endpointId: string, batch: number, now: Date): Promise<number> {
  // Read under a lock: it may have been enabled since.
  const endpoint = await lockEndpointById(tx, endpointId);
  if (endpoint === undefined || (endpoint.disabledAt === null && endpoint.deletedAt === null)) return 0;
  const some = tx
    .select({ id: webhookDeliveries.id })
    .from(webhookDeliveries)
    .where(and(eq(webhookDeliveries.endpointId, endpointId), eq(webhookDeliveries.state, 'pending')))
    .limit(batch);
  const ended = await tx
    .update(webhookDeliveries)
    .set(givenUp(now))
    .where(inArray(webhookDeliveries.id, some))
    .returning({ id: webhookDeliveries.id });
  return ended.length;
}

/** A workflow may have been terminated, or a wake lost. */
export async function wakeOverdueEndpoints(tx: Executor, { before }: { readonly before: Date }): Promise<number> {
  const { endpointId, state, nextTryAt, leasedUntil } = webhookDeliveries;
  const { id: endpoint, retryAt, wakesRequested, wakesSent, missedSince, disabledAt, deletedAt } = webhookEndpoints;
  // One row for each endpoint: very many may wait.
  const waiting = and(eq(endpointId, endpoint), eq(state, 'pending'));
  const delivery = (which: SQL | undefined) =>
    tx
      .select({ one: sql`1` })
      .from(webhookDeliveries)
      .where(which);
  const overdueDelivery = delivery(
    and(waiting, lte(nextTryAt, before), or(isNull(leasedUntil), lte(leasedUntil, before))),
  );
  const isLeft = and(isNotNull(missedSince), isNull(disabledAt), isNull(deletedAt), notExists(delivery(waiting)));
  const overdue = await tx
    .select({ id: endpoint })
    .from(webhookEndpoints)
    .where(
      and(
        eq(wakesRequested, wakesSent),
        or(isNull(retryAt), lte(retryAt, before)),
        or(exists(overdueDelivery), isLeft),
      ),
    );
  await requestEndpointWake(
    tx,
    overdue.map(({ id }) => id),
    { urgent: true },
  );
  return overdue.length;
}
