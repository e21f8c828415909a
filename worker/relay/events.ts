import { publishEvents } from '#db/events/events.ts';
import { endpointsToWake, noteEndpointWoken, type EndpointToWake } from '#db/events/webhook-endpoints.ts';
import { queueDeliveries } from '#fulfilment/event-webhooks/queue-deliveries.ts';
import { eachOf, PARALLEL, type RelayContext } from '#worker/relay/context.ts';
import type { Batch } from '#worker/relay/loop.ts';

/**
 * Puts announced events into their order, for everybody to read, and queues them for the webhook endpoints that get
 * them, in one transaction: nothing is published that is not on its way. Needs PostgreSQL alone.
 */
export async function relayEvents({
  database,
  policy: { batch },
  metrics,
  now,
  onPublished,
}: RelayContext): Promise<Batch> {
  const published = await database.transaction(async (tx) => {
    const events = await publishEvents(tx, batch);
    await queueDeliveries(tx, events, new Date(now()));
    return events;
  });
  if (published.length > 0) onPublished();
  for (const { type, occurredAt } of published) {
    metrics.events.inc({ type });
    metrics.relayDelay.observe({ queue: 'events' }, Math.max(0, now() - occurredAt.getTime()) / 1_000);
  }
  return { taken: published.length, again: published.length === batch };
}

/**
 * Tells the workflows of endpoints that something waits for them. One that cannot be told now is told at the next poll.
 */
export async function relayEndpointWakes(context: RelayContext): Promise<Batch> {
  const {
    database,
    policy: { batch },
  } = context;
  const waiting = await database.run((db) => endpointsToWake(db, batch));
  let woken = 0;
  await eachOf(waiting, PARALLEL, async (endpoint) => {
    if (!context.isCutOff() && (await wakeEndpoint(context, endpoint))) woken += 1;
  });
  return { taken: woken, again: woken === batch };
}

async function wakeEndpoint(
  { database, endpoints, call, metrics, logger }: RelayContext,
  endpoint: EndpointToWake,
): Promise<boolean> {
  try {
    await call(() => endpoints.wake(endpoint.id, { urgent: endpoint.wakeIsUrgent }));
    await database.run((db) => noteEndpointWoken(db, endpoint));
    metrics.relayRows.inc({ queue: 'endpoints', result: 'handed_over' });
    return true;
  } catch (error) {
    metrics.relayRows.inc({ queue: 'endpoints', result: 'postponed' });
    logger.warn(
      { err: error, endpointId: endpoint.id },
      'the workflow of a webhook endpoint could not be woken; it is tried again',
    );
    return false;
  }
}
