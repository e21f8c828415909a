/** Deliveries to webhook endpoints. */
import { and, asc, count, eq, gt, inArray, lte, sql, type SQL } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { newId } from '#db/connection/ids.ts';
import type { WebhookEndpointRow } from '#db/events/webhook-endpoints.ts';
import { events, webhookDeliveries, webhookEndpoints, type webhookTries } from '#db/schema.ts';
import { TEST_EVENT } from '#domain/events/event-filter.ts';
import type { EndpointHealth } from '#domain/events/webhook-delivery.ts';
import { DELIVERY_LIFECYCLE } from '#domain/events/webhook-lifecycle.ts';

export type WebhookDeliveryRow = typeof webhookDeliveries.$inferSelect;
export type WebhookTryRow = typeof webhookTries.$inferSelect;

/** PostgreSQL takes 65,535 parameters in a statement. */
const ROWS_PER_INSERT = 1_000;
/** Counts stop here: more is simply many. */
const COUNTED = 10_000;

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

/** The queue of an endpoint. */
export type EndpointOutlook =
  | { readonly kind: 'ended'; readonly reason: 'deleted' | 'disabled' }
  | {
      readonly kind: 'open';
      /** Waiting deliveries, counted up to a bound. */
      readonly pending: number;
      /** Time of the next or overdue delivery; undefined when none waits. */
      readonly nextAt: Date | undefined;
      /** True when it is to get missed events that are not queued yet. */
      readonly hasMissed: boolean;
      readonly health: EndpointHealth;
      readonly lastFailure: string | null;
    };

export async function endpointOutlook(db: Executor, endpointId: string): Promise<EndpointOutlook> {
  const [endpoint] = await db.select().from(webhookEndpoints).where(eq(webhookEndpoints.id, endpointId));
  if (endpoint === undefined || endpoint.deletedAt !== null) return { kind: 'ended', reason: 'deleted' };
  if (endpoint.disabledAt !== null) return { kind: 'ended', reason: 'disabled' };
  const { nextTryAt, leasedUntil, state } = webhookDeliveries;
  const waiting = and(eq(webhookDeliveries.endpointId, endpointId), eq(state, 'pending'));
  const dueAt = sql`greatest(${nextTryAt}, ${leasedUntil})`.as('due_at');
  const outlook = async (which: SQL | undefined) => {
    const some = db
      .select({ dueAt })
      .from(webhookDeliveries)
      .where(which)
      .orderBy(asc(nextTryAt))
      .limit(COUNTED)
      .as('some');
    const first = sql<Date | null>`min(${some.dueAt})`.mapWith(nextTryAt);
    const [found] = await db.select({ pending: count(), first }).from(some);
    return { pending: found?.pending ?? 0, earliest: found?.first ?? undefined };
  };
  const { pending, earliest } = await outlook(waiting);
  const notBefore = endpoint.retryAt ?? undefined;
  let nextAt = earliest ?? endpoint.missedSince ?? undefined;
  if (earliest !== undefined && notBefore !== undefined && notBefore > earliest) {
    const { earliest: test = notBefore } = await outlook(and(waiting, untriedTest(db, endpointId)));
    nextAt = test < notBefore ? test : notBefore;
  }
  return {
    kind: 'open',
    pending,
    nextAt,
    hasMissed: endpoint.missedSince !== null,
    health: healthOf(endpoint),
    lastFailure: endpoint.lastFailure,
  };
}

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

export function healthOf({ failures, failingSince, retryAt }: WebhookEndpointRow): EndpointHealth {
  return {
    failures,
    ...(failingSince !== null && { failingSince: failingSince.getTime() }),
    ...(retryAt !== null && { retryAt: retryAt.getTime() }),
  };
}
