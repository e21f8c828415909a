/** Deliveries of disabled endpoints, and endpoints whose workflow does not run. */
import { and, eq, exists, inArray, isNotNull, isNull, lte, notExists, or, sql, type SQL } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { givenUp } from '#db/events/webhook-deliveries.ts';
import { requestEndpointWake } from '#db/events/webhook-endpoints.ts';
import { webhookDeliveries, webhookEndpoints } from '#db/schema.ts';

/**
 * Gives up deliveries of an endpoint that is disabled or deleted.
 * @returns how many; fewer than `batch` means that none are left.
 */
export async function giveUpDeliveries(tx: Executor, endpointId: string, batch: number, now: Date): Promise<number> {
  // Read under a lock: it may have been enabled since.
  const [endpoint] = await tx
    .select()
    .from(webhookEndpoints)
    .where(eq(webhookEndpoints.id, endpointId))
    .for('no key update');
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

/**
 * Wakes the workflow of every endpoint whose deliveries are overdue, or that has missed events to get and none queued:
 * its workflow was terminated, or a wake was lost.
 */
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
