import type { Router } from 'express';
import { addActions, addRules, addWebhooks } from '#simulator/admin/actions.ts';
import { AdminCalls } from '#simulator/admin/calls.ts';
import { addReads } from '#simulator/admin/reads.ts';
import { notFound } from '#simulator/service/errors.ts';
import type { Simulation } from '#simulator/simulation.ts';

/** `docs/simulator.md` lists the calls. */
export function adminRouter(simulation: Simulation): Router {
  const calls = new AdminCalls();
  addReads(calls, simulation);
  addRules(calls, simulation);
  addWebhooks(calls, simulation);
  addActions(calls, simulation);
  calls.router.use((_request, _response, next) => next(notFound('admin call')));
  return calls.router;
}
