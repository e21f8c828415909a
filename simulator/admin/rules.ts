import type { Router } from 'express';
import { command, query } from '#simulator/admin/call.ts';
import * as schemas from '#simulator/admin/schemas.ts';
import { dialectView, shapeView } from '#simulator/admin/views.ts';
import { notFound } from '#simulator/service/errors.ts';
import type { Simulation } from '#simulator/simulation.ts';

/** Admin calls that set faults, behaviour, dialect, shape and rate limit. */
export function addRules(router: Router, simulation: Simulation): void {
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
