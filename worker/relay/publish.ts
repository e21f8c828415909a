import { publishEvents } from '#db/events/event-log.ts';
import { endpointsToWake, type EndpointToWake, noteEndpointWoken } from '#db/events/webhook-endpoints.ts';
import { queueDeliveries } from '#fulfilment/event-webhooks/queue-deliveries.ts';
import { inParallel, type Batch, type RelayContext } from '#worker/relay/context.ts';

/** One transaction publishes events and queues their deliveries, so that no published event lacks them. */
export async function relayEvents({ database, policy: { batch }, metrics, now }: RelayContext): Promise<Batch> {
  const published = await database.transaction(async (tx) => {
    const events = await publishEvents(tx, batch);
    await queueDeliveries(tx, events, new Date(now()));
    return events;
  });
  for (const { type, occurredAt } of published) {
    metrics.events.inc({ type });
    metrics.relayDelay.observe({ queue: 'events' }, Math.max(0, now() - occurredAt.getTime()) / 1_000);
  }
  return { taken: published.length, again: published.length === batch };
}

/** A failed wake is tried again after `policy.pollMs`. */
export async function relayEndpointWakes(context: RelayContext): Promise<Batch> {
  const {
    database,
    policy: { batch, pollMs },
  } = context;
  const waiting = await database.run((db) => endpointsToWake(db, batch));
  let woken = 0;
  await inParallel(waiting, async (endpoint) => {
    if (!context.isCutOff() && (await wakeEndpoint(context, endpoint))) woken += 1;
  });
  return { taken: woken, again: woken === batch, ...(woken < waiting.length && { retryAfterMs: pollMs }) };
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
      'the workflow of a webhook endpoint could not be woken; the relay tries again',
    );
    return false;
  }
}
