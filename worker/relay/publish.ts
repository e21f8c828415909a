import { publishEvents } from '#db/events/event-log.ts';
import { endpointsToWake, type EndpointToWake, noteEndpointWoken } from '#db/events/webhook-endpoints.ts';
import { queueDeliveries } from '#fulfilment/event-webhooks/queue-deliveries.ts';
import type { Batch } from '#worker/relay/loop.ts';
import type { RelayOptions } from '#worker/relay/relay.ts';

/** One transaction publishes events and queues their deliveries, so that no published event lacks them. */
export async function publish({ database, policy, metrics, now }: RelayOptions): Promise<Batch> {
  const published = await database.transaction(async (tx) => {
    const events = await publishEvents(tx, policy.batch);
    await queueDeliveries(tx, events, new Date(now()));
    return events;
  });
  for (const { type, occurredAt } of published) {
    metrics.events.inc({ type });
    metrics.relayDelay.observe({ queue: 'events' }, Math.max(0, now() - occurredAt.getTime()) / 1_000);
  }
  return { taken: published.length, again: published.length === policy.batch };
}

/** A failed wake is tried again after `policy.pollMs`. */
export async function wakeEndpoints(options: RelayOptions): Promise<Batch> {
  const { batch, pollMs } = options.policy;
  const waiting = await options.database.run((db) => endpointsToWake(db, batch));
  const woken = (await Promise.all(waiting.map((endpoint) => wakeEndpoint(options, endpoint)))).filter(Boolean).length;
  return { taken: woken, again: woken === batch, ...(woken < waiting.length && { retryAfterMs: pollMs }) };
}

async function wakeEndpoint(
  { database, endpoints, metrics, logger }: RelayOptions,
  endpoint: EndpointToWake,
): Promise<boolean> {
  try {
    await endpoints.wake(endpoint.id, { urgent: endpoint.wakeIsUrgent });
    await database.run((db) => noteEndpointWoken(db, endpoint));
    metrics.relayRows.inc({ queue: 'endpoints', result: 'handed_over' });
    return true;
  } catch (error) {
    metrics.relayRows.inc({ queue: 'endpoints', result: 'postponed' });
    logger.warn(
      { err: error, endpointId: endpoint.id },
      'the workflow of a webhook endpoint could not be woken; the relay tries again',
    );
    return false;
  }
}
