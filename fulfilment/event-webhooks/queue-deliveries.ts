import type { Executor } from '#db/connection/database.ts';
import type { PublishedEvent } from '#db/events/event-log.ts';
import { addDeliveries } from '#db/events/webhook-deliveries.ts';
import { isReceiving, requestEndpointWake, type WebhookEndpointRow } from '#db/events/webhook-endpoints.ts';
import { webhookEndpoints } from '#db/schema.ts';
import { selects, TEST_EVENT } from '#domain/events/event-filter.ts';

/**
 * Queues events for each endpoint that selects them, in the transaction that publishes them: an event with a position
 * is queued, and no other transaction waits for it.
 * @returns the number of endpoints that may receive events; 0 when none was published.
 */
export async function queueDeliveries(tx: Executor, published: readonly PublishedEvent[], now: Date): Promise<number> {
  if (published.length === 0) return 0;
  const receivers = await tx
    .select({ id: webhookEndpoints.id, ownerId: webhookEndpoints.ownerId, eventTypes: webhookEndpoints.eventTypes })
    .from(webhookEndpoints)
    .where(isReceiving);
  const pairs = receivers.flatMap((endpoint) =>
    published
      .filter((event) => isFor(endpoint, event))
      .map((event) => ({ endpointId: endpoint.id, eventId: event.id })),
  );
  const ids = [...new Set(pairs.map(({ endpointId }) => endpointId))];
  const tested = new Set(published.filter(({ type }) => type === TEST_EVENT).map(({ subjectId }) => subjectId));
  await requestEndpointWake(
    tx,
    ids.filter((id) => !tested.has(id)),
    { urgent: false },
  );
  await requestEndpointWake(
    tx,
    ids.filter((id) => tested.has(id)),
    { urgent: true },
  );
  await addDeliveries(tx, pairs, now);
  return receivers.length;
}

type Receiver = Pick<WebhookEndpointRow, 'id' | 'ownerId' | 'eventTypes'>;

/**
 * A test goes to its endpoint only. An endpoint with an owner gets the events of the owner's work, and none about the
 * account.
 */
function isFor({ id, ownerId, eventTypes }: Receiver, { type, subjectId, apiKeyId }: PublishedEvent): boolean {
  if (type === TEST_EVENT) return subjectId === id;
  return (ownerId === null || apiKeyId === ownerId) && selects(eventTypes, type);
}
