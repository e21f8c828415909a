import { type RequestHandler, Router } from 'express';
import { addActions } from '#simulator/admin/actions.ts';
import { command, query } from '#simulator/admin/call.ts';
import { addReads } from '#simulator/admin/reads.ts';
import * as schemas from '#simulator/admin/schemas.ts';
import { deliveryView, dialectView, shapeView } from '#simulator/admin/views.ts';
import { notFound, ServiceError } from '#simulator/service/errors.ts';
import type { Simulation } from '#simulator/simulation.ts';
import { ENVIRONMENTS } from '#simulator/store/store.ts';

/** `docs/simulator.md` lists the calls. */
export function adminRouter(simulation: Simulation): Router {
  const router = Router({ caseSensitive: true });
  router.use(localNameOnly);
  router.use(sameOriginOnly);
  addReads(router, simulation);
  addRules(router, simulation);
  addWebhooks(router, simulation);
  addActions(router, simulation);
  router.use((_request, _response, next) => next(notFound('admin call')));
  return router;
}

/** Against DNS rebinding: a foreign page can point its own domain here, so names that a domain can have are refused. */
const localNameOnly: RequestHandler = (request, _response, next) => {
  const host = request.get('Host') ?? '';
  const name = URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : host;
  const isAddress = name.startsWith('[') || /^[\d.]+$/.test(name);
  const local = isAddress || !name.includes('.') || name.endsWith('.localhost');
  next(
    local
      ? undefined
      : new ServiceError(403, 'conflict', 'Call the admin API by an IP address or a name without a dot.'),
  );
};

/** Against cross-site requests: other pages open in the same browser may not call. */
const sameOriginOnly: RequestHandler = (request, _response, next) => {
  const origin = request.get('Origin');
  const own = origin === undefined || (URL.canParse(origin) && new URL(origin).host === request.get('Host'));
  next(own ? undefined : new ServiceError(403, 'conflict', 'The admin API is not for pages of another origin.'));
};

function addRules(router: Router, simulation: Simulation): void {
  const { faults, behaviours, rateLimiter } = simulation;
  router
    .route('/faults')
    .get(query(schemas.nothing, () => ({ data: faults.list() })))
    .post(command(schemas.faultRule, ({ body }) => faults.add(body), 201))
    .delete(command(schemas.nothing, () => simulation.clearFaults()));
  router.delete(
    '/faults/:id',
    command(schemas.nothing, ({ id }) => {
      if (!faults.remove(id)) throw notFound('fault rule');
    }),
  );
  router
    .route('/fault-profile')
    .get(query(schemas.nothing, () => simulation.faultProfile))
    .post(
      command(schemas.faultProfile, ({ body }) => {
        simulation.chooseFaultProfile(body);
        return { ...simulation.faultProfile, rules: faults.list().filter(({ profile }) => profile) };
      }),
    );
  router
    .route('/behaviour')
    .get(query(schemas.nothing, () => ({ data: behaviours.list() })))
    .post(command(schemas.behaviourRule, ({ body }) => behaviours.add(body), 201))
    .delete(command(schemas.nothing, () => behaviours.clear()));
  router.delete(
    '/behaviour/:id',
    command(schemas.nothing, ({ id }) => {
      if (!behaviours.remove(id)) throw notFound('behaviour rule');
    }),
  );
  router
    .route('/dialect')
    .get(query(schemas.nothing, () => dialectView(simulation)))
    .post(
      command(schemas.dialectChoice, ({ body }) => {
        simulation.chooseDialect(body);
        return dialectView(simulation);
      }),
    );
  router
    .route('/shape')
    .get(query(schemas.nothing, () => shapeView(simulation)))
    .post(
      command(schemas.shapeChoice, ({ body }) => {
        simulation.chooseShape(body);
        return shapeView(simulation);
      }),
    );
  router
    .route('/rate-limit')
    .get(query(schemas.nothing, () => rateLimiter.limit))
    .post(
      command(schemas.rateLimit, ({ body }) => {
        rateLimiter.choose(body);
        return rateLimiter.limit;
      }),
    );
}

function addWebhooks(router: Router, simulation: Simulation): void {
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
