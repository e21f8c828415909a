import type { Router } from 'express';
import { command, query } from '#simulator/admin/call.ts';
import * as schemas from '#simulator/admin/schemas.ts';
import { deliveryView } from '#simulator/admin/views.ts';
import { ENVIRONMENTS } from '#simulator/environment.ts';
import { notFound, ServiceError } from '#simulator/service/errors.ts';
import type { Simulation } from '#simulator/simulation.ts';

/** Admin calls for webhooks: their target, manual webhooks, and replays. */
export function addWebhooks(router: Router, simulation: Simulation): void {
  const { webhooks, deliveries, endpoints } = simulation;
  const stored = (id: string): Record<string, unknown> => {
    const delivery = deliveries.get(id);
    if (delivery === undefined) throw notFound('delivery');
    return deliveryView(simulation, delivery);
  };
  router.post(
    '/webhooks/target',
    command(schemas.webhookTarget, ({ body: { environment, url, secret } }) => {
      const affected = environment === undefined ? ENVIRONMENTS : [environment];
      for (const each of affected) endpoints.choose(each, url === null ? undefined : { url, secret });
      return { environments: affected, url };
    }),
  );
  router.post(
    '/webhooks/ping',
    command(
      schemas.webhookPing,
      ({ body: { environment } }) => stored(webhooks.enqueue({ environment, event: 'ping', subject: null, data: {} })),
      202,
    ),
  );
  router.post(
    '/webhooks/send',
    command(
      schemas.webhookSend,
      ({ body: { environment, event, data, body, ...how } }) =>
        stored(webhooks.enqueueTampered({ environment, event, subject: null, data }, body, how)),
      202,
    ),
  );
  router.get(
    '/deliveries/:id',
    query(schemas.nothing, (_query, id) => stored(id)),
  );
  router.post(
    '/deliveries/:id/replay',
    command(
      schemas.nothing,
      ({ id }) => {
        stored(id);
        if (webhooks.replay(id)) return stored(id);
        throw new ServiceError(409, 'conflict', 'The delivery is being sent. Try again in a moment.');
      },
      202,
    ),
  );
}
