import { and, eq, gte, min } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import type { WebhookEndpointRow } from '#db/events/webhook-endpoints.ts';
import { events, webhookDeliveries } from '#db/schema.ts';

/**
 * Time of the oldest event that a disabled endpoint has missed, as far as known: the replay starts there. For an
 * enabled endpoint: of those not queued yet.
 */
export async function missedSince(
  db: Executor,
  { id, disabledAt, failingSince, missedSince: left }: WebhookEndpointRow,
): Promise<Date | undefined> {
  if (disabledAt === null) return left ?? undefined;
  // During an outage some deliveries were given up before the endpoint was disabled.
  const since = failingSince !== null && failingSince < disabledAt ? failingSince : disabledAt;
  const [found] = await db
    .select({ at: min(events.occurredAt) })
    .from(webhookDeliveries)
    .innerJoin(events, eq(events.id, webhookDeliveries.eventId))
    .where(
      and(
        eq(webhookDeliveries.endpointId, id),
        eq(webhookDeliveries.state, 'failed'),
        gte(webhookDeliveries.endedAt, since),
      ),
    );
  // Events that were not queued yet at a further disabling are missed, too.
  return [found?.at, left].reduce<Date>((oldest, at) => (at != null && at < oldest ? at : oldest), disabledAt);
}
