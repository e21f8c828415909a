import { and, asc, count, eq, sql, type SQL } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { healthOf, untriedTest } from '#db/events/webhook-deliveries.ts';
import { webhookDeliveries, webhookEndpoints } from '#db/schema.ts';
import type { EndpointHealth } from '#domain/events/webhook-delivery.ts';

/** Counts stop here: more is simply many. */
const COUNTED = 10_000;

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

/** When the endpoint must be tried next, or why its workflow ends. */
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
