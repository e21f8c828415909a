import { and, asc, count, eq, isNull, lte, notExists, or, sql, type SQL } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import type { EventRow } from '#db/events/event-log.ts';
import {
  COUNTED_DELIVERIES,
  givenUp,
  healthOf,
  untriedTest,
  type WebhookDeliveryRow,
} from '#db/events/webhook-deliveries.ts';
import { isReceiving, type WebhookEndpointRow } from '#db/events/webhook-endpoints.ts';
import { events, webhookDeliveries, webhookEndpoints } from '#db/schema.ts';
import type { EndpointHealth } from '#domain/events/webhook-delivery.ts';

export interface ClaimedDelivery {
  readonly delivery: WebhookDeliveryRow;
  readonly event: EventRow;
  readonly endpoint: Pick<WebhookEndpointRow, 'id' | 'url'>;
}

interface Claim {
  readonly now: Date;
  readonly leaseMs: number;
}

export async function claimDelivery(
  tx: Executor,
  endpointId: string,
  claim: Claim,
): Promise<ClaimedDelivery | undefined> {
  const endpoint = await readReceiving(tx, endpointId);
  if (endpoint === undefined || (endpoint.retryAt !== null && endpoint.retryAt > claim.now)) return undefined;
  return claimFirst(tx, endpoint, undefined, claim);
}

/** A test goes even while the endpoint waits for the end of an outage: a caller waits for its result. */
export async function claimTest(tx: Executor, endpointId: string, claim: Claim): Promise<ClaimedDelivery | undefined> {
  const endpoint = await readReceiving(tx, endpointId);
  return endpoint === undefined ? undefined : claimFirst(tx, endpoint, untriedTest(tx, endpointId), claim);
}

async function claimFirst(
  tx: Executor,
  endpoint: WebhookEndpointRow,
  which: SQL | undefined,
  claim: Claim,
): Promise<ClaimedDelivery | undefined> {
  const { now, leaseMs } = claim;
  const { id: endpointId } = endpoint;
  const [due] = await tx
    .select({ id: webhookDeliveries.id, event: events })
    .from(webhookDeliveries)
    .leftJoin(events, eq(events.id, webhookDeliveries.eventId))
    .where(
      and(
        eq(webhookDeliveries.endpointId, endpointId),
        eq(webhookDeliveries.state, 'pending'),
        lte(webhookDeliveries.nextTryAt, now),
        or(isNull(webhookDeliveries.leasedUntil), lte(webhookDeliveries.leasedUntil, now)),
        which,
      ),
    )
    .orderBy(asc(webhookDeliveries.nextTryAt), asc(webhookDeliveries.id))
    .limit(1)
    .for('update', { of: webhookDeliveries, skipLocked: true });
  if (due === undefined) return undefined;
  if (due.event === null) {
    await endForgotten(tx, endpointId, now);
    return claimFirst(tx, endpoint, which, claim);
  }
  const [delivery] = await tx
    .update(webhookDeliveries)
    .set({ leasedUntil: new Date(now.getTime() + leaseMs) })
    .where(eq(webhookDeliveries.id, due.id))
    .returning();
  if (delivery === undefined) return undefined;
  return { delivery, event: due.event, endpoint };
}

/** Gives up deliveries whose events were deleted: they cannot be sent and must not block the others. */
async function endForgotten(tx: Executor, endpointId: string, now: Date): Promise<void> {
  const event = tx
    .select({ one: sql`1` })
    .from(events)
    .where(eq(events.id, webhookDeliveries.eventId));
  await tx
    .update(webhookDeliveries)
    .set(givenUp(now))
    .where(and(eq(webhookDeliveries.endpointId, endpointId), eq(webhookDeliveries.state, 'pending'), notExists(event)));
}

async function readReceiving(db: Executor, id: string): Promise<WebhookEndpointRow | undefined> {
  const [row] = await db
    .select()
    .from(webhookEndpoints)
    .where(and(eq(webhookEndpoints.id, id), isReceiving));
  return row;
}

export type EndpointOutlook =
  | { readonly kind: 'ended'; readonly reason: 'deleted' | 'disabled' }
  | {
      readonly kind: 'open';
      readonly pending: number;
      readonly nextAt: Date | undefined;
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
      .limit(COUNTED_DELIVERIES)
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
