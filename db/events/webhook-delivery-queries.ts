/** Queries of deliveries for the API. */
import { and, asc, desc, eq, inArray, lt, type SQL } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import type { WebhookDeliveryRow, WebhookTryRow } from '#db/events/webhook-deliveries.ts';
import { events, webhookDeliveries, webhookTries } from '#db/schema.ts';
import type { EventType } from '#domain/events/event-types.ts';
import type { DeliveryState } from '#domain/events/webhook-delivery.ts';

/** A delivery with its event and tries. */
export interface DeliveryWithTries {
  readonly delivery: WebhookDeliveryRow;
  readonly eventType: EventType;
  /** Oldest first. */
  readonly tries: readonly WebhookTryRow[];
}

export interface DeliveryFilter {
  readonly state?: DeliveryState | undefined;
  readonly eventId?: string | undefined;
}

/** A delivery that is tried for days has some dozens. */
const TRIES_SHOWN = 100;

/** More waiting deliveries than this are not counted: a receiver that is down for days may have millions. */
export const COUNTED_DELIVERIES = 10_000;

/** Number of deliveries of an endpoint that wait for their (next) try, up to {@link COUNTED_DELIVERIES}. */
export async function countPendingDeliveries(db: Executor, endpointId: string): Promise<number> {
  const pending = db
    .select({ id: webhookDeliveries.id })
    .from(webhookDeliveries)
    .where(and(eq(webhookDeliveries.endpointId, endpointId), eq(webhookDeliveries.state, 'pending')))
    .limit(COUNTED_DELIVERIES);
  return db.$count(pending.as('pending'));
}

/** Deliveries of an endpoint, newest first. @param page.after id of the last one of the previous page. */
export async function listDeliveries(
  db: Executor,
  endpointId: string,
  { state, eventId }: DeliveryFilter,
  { limit, after }: { readonly limit: number; readonly after: string | undefined },
): Promise<DeliveryWithTries[]> {
  return withTries(
    db,
    and(
      eq(webhookDeliveries.endpointId, endpointId),
      state === undefined ? undefined : eq(webhookDeliveries.state, state),
      eventId === undefined ? undefined : eq(webhookDeliveries.eventId, eventId),
      after === undefined ? undefined : lt(webhookDeliveries.id, after),
    ),
    limit,
  );
}

async function withTries(db: Executor, where: SQL | undefined, limit: number): Promise<DeliveryWithTries[]> {
  const found = await db
    .select({ delivery: webhookDeliveries, eventType: events.type })
    .from(webhookDeliveries)
    .innerJoin(events, eq(events.id, webhookDeliveries.eventId))
    .where(where)
    .orderBy(desc(webhookDeliveries.id))
    .limit(limit);
  const ids = found.map(({ delivery }) => delivery.id);
  const tries =
    ids.length === 0
      ? []
      : await db
          .select()
          .from(webhookTries)
          .where(inArray(webhookTries.deliveryId, ids))
          .orderBy(asc(webhookTries.number));
  const byDelivery = Map.groupBy(tries, ({ deliveryId }) => deliveryId);
  return found.map((each) => ({ ...each, tries: (byDelivery.get(each.delivery.id) ?? []).slice(-TRIES_SHOWN) }));
}
