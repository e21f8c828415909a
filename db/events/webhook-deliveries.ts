/** Deliveries to webhook endpoints. */
import { and, eq, gt, inArray, lte, sql, type SQL } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { newId } from '#db/connection/ids.ts';
import type { WebhookEndpointRow } from '#db/events/webhook-endpoints.ts';
import { events, webhookDeliveries, type webhookTries } from '#db/schema.ts';
import { TEST_EVENT } from '#domain/events/event-filter.ts';
import type { EndpointHealth } from '#domain/events/webhook-delivery.ts';
import { DELIVERY_LIFECYCLE } from '#domain/events/webhook-lifecycle.ts';

export type WebhookDeliveryRow = typeof webhookDeliveries.$inferSelect;
export type WebhookTryRow = typeof webhookTries.$inferSelect;

/** PostgreSQL takes 65,535 parameters in a statement. */
const ROWS_PER_INSERT = 1_000;

/** Queues events for endpoints; a delivery that was queued before is tried again. */
export async function addDeliveries(
  tx: Executor,
  pairs: readonly { endpointId: string; eventId: string }[],
  now: Date,
): Promise<void> {
  for (let start = 0; start < pairs.length; start += ROWS_PER_INSERT) {
    const rows = pairs.slice(start, start + ROWS_PER_INSERT);
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
        // It was queued before, whatever its result was.
        set: {
          state: DELIVERY_LIFECYCLE.queued.pending,
          triedSince: now,
          failedTries: 0,
          nextTryAt: now,
          endedAt: null,
        },
      });
  }
}

/**
 * Condition on `webhook_deliveries`: an untried test. Few events are about an endpoint, so this avoids a search of its
 * queue.
 */
export function untriedTest(db: Executor, endpointId: string): SQL | undefined {
  const tests = db
    .select({ id: events.id })
    .from(events)
    .where(and(eq(events.subjectId, endpointId), eq(events.type, TEST_EVENT)));
  return and(eq(webhookDeliveries.failedTries, 0), inArray(webhookDeliveries.eventId, tests));
}

/** The columns of a delivery that is given up. */
export const givenUp = (now: Date) =>
  ({ state: DELIVERY_LIFECYCLE.given_up.pending, nextTryAt: null, leasedUntil: null, endedAt: now }) as const;

/**
 * Deletes old ended deliveries with their tries.
 * @returns how many; fewer than `batch` means that none are left.
 */
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

/** After an outage: makes all waiting deliveries due now. */
export async function bringForward(tx: Executor, endpointId: string, now: Date): Promise<void> {
  const { nextTryAt, state } = webhookDeliveries;
  await tx
    .update(webhookDeliveries)
    .set({ nextTryAt: now })
    .where(and(eq(webhookDeliveries.endpointId, endpointId), eq(state, 'pending'), gt(nextTryAt, now)));
}

/** The health of an endpoint in terms of the domain. */
export function healthOf({ failures, failingSince, retryAt }: WebhookEndpointRow): EndpointHealth {
  return {
    failures,
    ...(failingSince !== null && { failingSince: failingSince.getTime() }),
    ...(retryAt !== null && { retryAt: retryAt.getTime() }),
  };
}
