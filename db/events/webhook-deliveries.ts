import { and, asc, desc, eq, gt, inArray, lt, lte, sql, type SQL } from 'drizzle-orm';
import { inBatches } from '#db/connection/batches.ts';
import type { Executor } from '#db/connection/database.ts';
import { newId } from '#db/connection/ids.ts';
import type { WebhookEndpointRow } from '#db/events/webhook-endpoints.ts';
import { matches, type PageOptions } from '#db/lists/pages.ts';
import { events, webhookDeliveries, webhookTries } from '#db/schema.ts';
import { type EventType, TEST_EVENT } from '#domain/events/event-types.ts';
import type { DeliveryState, EndpointHealth } from '#domain/events/webhook-delivery.ts';

export type WebhookDeliveryRow = typeof webhookDeliveries.$inferSelect;
export type WebhookTryRow = typeof webhookTries.$inferSelect;

export async function addDeliveries(
  tx: Executor,
  pairs: readonly { endpointId: string; eventId: string }[],
  now: Date,
): Promise<void> {
  for (const rows of inBatches(pairs)) {
    await tx
      .insert(webhookDeliveries)
      .values(
        rows.map((pair) => ({
          ...pair,
          id: newId('webhookDelivery'),
          triedSince: now,
          nextTryAt: now,
          createdAt: now,
        })),
      )
      .onConflictDoUpdate({
        target: [webhookDeliveries.endpointId, webhookDeliveries.eventId],
        set: {
          state: 'pending',
          triedSince: now,
          failedTries: 0,
          nextTryAt: now,
          endedAt: null,
        },
      });
  }
}

/** Few events are about an endpoint, so this avoids a search of its queue. */
export function untriedTest(db: Executor, endpointId: string): SQL | undefined {
  const tests = db
    .select({ id: events.id })
    .from(events)
    .where(and(eq(events.subjectId, endpointId), eq(events.type, TEST_EVENT)));
  return and(eq(webhookDeliveries.failedTries, 0), inArray(webhookDeliveries.eventId, tests));
}

export const givenUp = (now: Date) => ({ state: 'failed', nextTryAt: null, leasedUntil: null, endedAt: now }) as const;

export async function forgetDeliveries(
  db: Executor,
  { before, batch }: { readonly before: Date; readonly batch: number },
): Promise<number> {
  const old = db
    .select({ id: webhookDeliveries.id })
    .from(webhookDeliveries)
    .where(and(sql`${webhookDeliveries.state} <> 'pending'`, lte(webhookDeliveries.endedAt, before)))
    .limit(batch);
  const rows = await db
    .delete(webhookDeliveries)
    .where(inArray(webhookDeliveries.id, old))
    .returning({ id: webhookDeliveries.id });
  return rows.length;
}

export async function bringForward(tx: Executor, endpointId: string, now: Date): Promise<void> {
  const { nextTryAt, state } = webhookDeliveries;
  await tx
    .update(webhookDeliveries)
    .set({ nextTryAt: now })
    .where(and(eq(webhookDeliveries.endpointId, endpointId), eq(state, 'pending'), gt(nextTryAt, now)));
}

export function healthOf({ failures, failingSince, retryAt }: WebhookEndpointRow): EndpointHealth {
  return {
    failures,
    ...(failingSince !== null && { failingSince: failingSince.getTime() }),
    ...(retryAt !== null && { retryAt: retryAt.getTime() }),
  };
}

export interface DeliveryWithTries {
  readonly delivery: WebhookDeliveryRow;
  readonly eventType: EventType;
  readonly tries: readonly WebhookTryRow[];
}

/** A delivery that is tried for days has some dozens. */
const TRIES_SHOWN = 100;

/** A receiver that is down for days may have millions. */
export const COUNTED_DELIVERIES = 10_000;

export async function countPendingDeliveries(db: Executor, endpointId: string): Promise<number> {
  const pending = db
    .select({ id: webhookDeliveries.id })
    .from(webhookDeliveries)
    .where(and(eq(webhookDeliveries.endpointId, endpointId), eq(webhookDeliveries.state, 'pending')))
    .limit(COUNTED_DELIVERIES);
  return db.$count(pending.as('pending'));
}

export async function listDeliveries(
  db: Executor,
  endpointId: string,
  { state, eventId }: { readonly state?: DeliveryState | undefined; readonly eventId?: string | undefined },
  { limit, after }: PageOptions<string>,
): Promise<DeliveryWithTries[]> {
  const found = await db
    .select({ delivery: webhookDeliveries, eventType: events.type })
    .from(webhookDeliveries)
    .innerJoin(events, eq(events.id, webhookDeliveries.eventId))
    .where(
      and(
        eq(webhookDeliveries.endpointId, endpointId),
        matches(webhookDeliveries.state, state),
        matches(webhookDeliveries.eventId, eventId),
        after === undefined ? undefined : lt(webhookDeliveries.id, after),
      ),
    )
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
