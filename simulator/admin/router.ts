import { Router } from 'express';
import { command, query } from '#simulator/admin/call.ts';
import * as schemas from '#simulator/admin/schemas.ts';
import {
  deliveryView,
  dialectView,
  ledgerView,
  listView,
  orderView,
  requestView,
  stateView,
} from '#simulator/admin/views.ts';
import { ENVIRONMENTS } from '#simulator/environment.ts';
import { notFound, ServiceError } from '#simulator/service/errors.ts';
import type { Simulation } from '#simulator/simulation.ts';
import type { OrderRecord } from '#simulator/store/orders.ts';
import { wirePackage } from '#simulator/wire.ts';

/** The admin API, relative to `/simulator`; `docs/simulator.md` lists it. */
export function adminRouter(simulation: Simulation): Router {
  const router = Router({ caseSensitive: true });
  addReads(router, simulation);
  addRules(router, simulation);
  addWebhooks(router, simulation);
  addActions(router, simulation);
  router.use((_request, _response, next) => next(notFound('admin call')));
  return router;
}

function addReads(router: Router, simulation: Simulation): void {
  const state = query(schemas.nothing, () => stateView(simulation));
  router.get('/', state);
  router.get('/state', state);
  router.get('/health', query(schemas.nothing, () => ({ status: 'ok' })));
  router.get('/orders', query(schemas.orderQuery, ({ environment, external_order_id: reference, ...page }) =>
    listView((part) => simulation.orders.oldestFirst(environment, reference, part), page, orderView)));
  router.get('/orders/:id', query(schemas.nothing, (_query, id) => orderView(orderOf(simulation, id))));
  router.get('/ledger', query(schemas.ledgerQuery, ({ environment, external_order_id: reference, ...page }) =>
    listView((part) => simulation.ledger.oldestFirst(environment, reference, part), page, ledgerView)));
  router.get('/deliveries', query(schemas.deliveryQuery, ({ environment, event, status, order_id: subject, ...page }) =>
    listView(
      (part) => simulation.deliveries.oldestFirst({ environment, event, status, subject }, part),
      page,
      (delivery) => deliveryView(simulation, delivery),
    )));
  router.get('/requests', query(schemas.requestQuery, ({ environment, endpoint, idempotency_key: key, ...page }) => {
    const filter = { environment, endpoint, idempotencyKey: key };
    return listView((part) => simulation.requests.oldestFirst(filter, part), page, requestView);
  }));
}

function addRules(router: Router, { faults, behaviours }: Simulation): void {
  router
    .route('/faults')
    .get(query(schemas.nothing, () => ({ data: faults.list() })))
    .post(command(schemas.faultRule, ({ body }) => faults.add(body), 201))
    .delete(command(schemas.nothing, () => faults.clear()));
  router.delete('/faults/:id', command(schemas.nothing, ({ id }) => {
    if (!faults.remove(id)) throw notFound('fault rule');
  }));
  router
    .route('/behaviour')
    .get(query(schemas.nothing, () => ({ data: behaviours.list() })))
    .post(command(schemas.behaviourRule, ({ body }) => behaviours.add(body), 201))
    .delete(command(schemas.nothing, () => behaviours.clear()));
  router.delete('/behaviour/:id', command(schemas.nothing, ({ id }) => {
    if (!behaviours.remove(id)) throw notFound('behaviour rule');
  }));
}

function addWebhooks(router: Router, simulation: Simulation): void {
  const { webhooks, deliveries } = simulation;
  const stored = (id: string): Record<string, unknown> => {
    const delivery = deliveries.get(id);
    if (delivery === undefined) throw notFound('delivery');
    return deliveryView(simulation, delivery);
  };
  router.post('/webhooks/target', command(schemas.webhookTarget, ({ body: { environment, url, secret } }) => {
    const target = url === null || secret === undefined ? undefined : { url, secret };
    const affected = environment === undefined ? ENVIRONMENTS : [environment];
    for (const each of affected) simulation.setWebhookTarget(each, target);
    return { environments: affected, url };
  }));
  router.post('/webhooks/ping', command(schemas.webhookPing, ({ body: { environment } }) =>
    stored(webhooks.enqueue({ environment, event: 'ping', subject: null, data: {} })), 202));
  router.post('/webhooks/send', command(schemas.webhookSend, ({ body: { environment, event, data, body, ...how } }) =>
    stored(webhooks.enqueueTampered({ environment, event, subject: null, data }, body, how)), 202));
  router.get('/deliveries/:id', query(schemas.nothing, (_query, id) => stored(id)));
  router.post('/deliveries/:id/replay', command(schemas.nothing, ({ id }) => {
    stored(id);
    if (!webhooks.replay(id)) throw refusedNow('The delivery is being sent at this moment.');
    return stored(id);
  }, 202));
}

function addActions(router: Router, simulation: Simulation): void {
  router.post('/deposits', command(schemas.deposit, ({ body: { environment, amount } }) => {
    simulation.deposit(environment, amount);
    return { environment, balance: simulation.wallet.balance(environment) };
  }, 201));
  router.post('/approval', command(schemas.approval, ({ body: { approved } }) => {
    simulation.setApproved(approved);
    return { approved };
  }));
  router.post('/orders/:id/complete', command(schemas.nothing, ({ id }) =>
    orderView(simulation.progress.complete(orderOf(simulation, id)) ?? ended())));
  router.post('/orders/:id/fail', command(schemas.orderFailure, ({ id, body }) =>
    orderView(simulation.progress.fail(orderOf(simulation, id), body) ?? ended())));
  router.post('/clock/advance', command(schemas.clockAdvance, ({ body: { ms } }) => {
    simulation.advanceClock(ms);
    return { time: new Date(simulation.clock.now()).toISOString(), clock_ahead_ms: simulation.clock.offset() };
  }));
  router
    .route('/dialect')
    .get(query(schemas.nothing, () => dialectView(simulation)))
    .post(command(schemas.dialectChoice, ({ body }) => {
      simulation.chooseDialect(body);
      return dialectView(simulation);
    }));
  router.post('/packages/:id', command(schemas.packageChange, ({ id, body }) => {
    const changed = simulation.packages.change(Number(id), { available: body.available, price: body.price_for_reseller });
    if (changed === undefined) throw notFound('package');
    return wirePackage(changed);
  }));
  router.post('/tokens/revoke', command(schemas.tokenRevocation, ({ body: { environment } }) => ({
    revoked: simulation.tokens.revokeAll(environment),
  })));
  router.post('/reset', command(schemas.nothing, () => {
    simulation.reset();
    return stateView(simulation);
  }));
}

function orderOf({ orders }: Simulation, id: string): OrderRecord {
  const order = orders.get(id);
  if (order === undefined) throw notFound('order');
  return order;
}

function ended(): never {
  throw refusedNow('The order is no longer processing.');
}

function refusedNow(message: string): ServiceError {
  return new ServiceError(409, 'conflict', message);
}
