import { Router, type RequestHandler } from 'express';
import { addActions } from '#simulator/admin/actions.ts';
import { addReads } from '#simulator/admin/reads.ts';
import { addRules } from '#simulator/admin/rules.ts';
import { addWebhooks } from '#simulator/admin/webhooks.ts';
import { notFound, ServiceError } from '#simulator/service/errors.ts';
import type { Simulation } from '#simulator/simulation.ts';

/** The admin API, relative to `/simulator`; `docs/simulator.md` lists it. */
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

/** A page of somebody else can give its own domain this address; so names that a domain can have are not served. */
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

/** The status page may call; a page of somebody else, open in the same browser, may not. */
const sameOriginOnly: RequestHandler = (request, _response, next) => {
  const origin = request.get('Origin');
  const own = origin === undefined || (URL.canParse(origin) && new URL(origin).host === request.get('Host'));
  next(own ? undefined : new ServiceError(403, 'conflict', 'The admin API is not for pages of another origin.'));
};
