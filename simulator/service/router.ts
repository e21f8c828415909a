import { Router, type RequestHandler } from 'express';
import type { Dialect } from '#simulator/behaviour/dialect.ts';
import type { Environment } from '#simulator/environment.ts';
import { notFound, ServiceError } from '#simulator/service/errors.ts';
import type { Pipeline } from '#simulator/service/pipeline.ts';
import { endpointNames, isServed } from '#simulator/service/served.ts';
import type { Simulation } from '#simulator/simulation.ts';
import { ENDPOINTS, type EndpointName } from '#upstream/contract.ts';

/** All calls of one environment, relative to its base address. */
export function serviceRouter(simulation: Simulation, environment: Environment, pipeline: Pipeline): Router {
  const router = Router({ caseSensitive: true, strict: true });
  for (const path of new Set(endpointNames.map((name) => ENDPOINTS[name].path))) {
    const names = endpointNames.filter((name) => ENDPOINTS[name].path === path);
    const route = router.route(path.replace('{id}', ':id'));
    for (const name of names) {
      const served = onlyIfServed(simulation, environment, name, pipeline.endpoint(environment, name));
      if (ENDPOINTS[name].method === 'GET') route.get(served);
      else route.post(served);
    }
    route.all(pipeline.refuse(environment, () => otherMethod(simulation.dialect, environment, names)));
  }
  router.use(pipeline.refuse(environment, () => notFound('resource')));
  return router;
}

/** Reads the dialect at each call, because it may change while the simulator runs. */
function onlyIfServed(
  simulation: Simulation,
  environment: Environment,
  name: EndpointName,
  handler: RequestHandler,
): RequestHandler {
  return (request, response, next) => {
    if (isServed(name, simulation.dialect, environment)) return handler(request, response, next);
    return next();
  };
}

function otherMethod(dialect: Dialect, environment: Environment, names: readonly EndpointName[]): ServiceError {
  const methods = names.filter((name) => isServed(name, dialect, environment)).map((name) => ENDPOINTS[name].method);
  if (methods.length === 0) return notFound('resource');
  const allow = methods.join(', ');
  return new ServiceError(405, 'method_not_allowed', `This address accepts only ${allow}.`, {
    headers: { Allow: allow },
  });
}
