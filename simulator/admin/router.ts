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

/**
 * Protects against DNS rebinding: a foreign page can point its own domain at this address, so names that a domain can
 * have are refused.
 */
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

/**
 * Protects against cross-site requests: only pages of this server may call, not other pages open in the same browser.
 */
const sameOriginOnly: RequestHandler = (request, _response, next) => {
  const origin = request.get('Origin');
  const own = origin === undefined || (URL.canParse(origin) && new URL(origin).host === request.get('Host'));
  next(own ? undefined : new ServiceError(403, 'conflict', 'The admin API is not for pages of another origin.'));
};
