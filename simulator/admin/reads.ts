import type { Router } from 'express';
import { query } from '#simulator/admin/call.ts';
import { overviewView } from '#simulator/admin/overview.ts';
import * as schemas from '#simulator/admin/schemas.ts';
import {
  deliveryView,
  esimView,
  ledgerView,
  listView,
  refundView,
  requestView,
  saleView,
  stateView,
} from '#simulator/admin/views.ts';
import { notFound } from '#simulator/service/errors.ts';
import { describedService } from '#simulator/service/openapi.ts';
import type { Simulation } from '#simulator/simulation.ts';
import type { EsimRecord } from '#simulator/store/esims.ts';
import type { RefundRecord } from '#simulator/store/refunds.ts';
import type { SaleKind, SaleRecord } from '#simulator/store/sales.ts';

/** Paths of the three kinds of purchase. */
export const SALE_PATHS = {
  order: '/orders',
  topup: '/topups',
  vpn: '/vpn-subscriptions',
} as const satisfies Record<SaleKind, string>;

/** Adds the reads of the admin API. */
export function addReads(router: Router, simulation: Simulation): void {
  const state = query(schemas.nothing, () => stateView(simulation));
  router.get('/', state);
  router.get('/state', state);
  router.get(
    '/health',
    query(schemas.nothing, () => ({ status: 'ok' })),
  );
  router.get(
    '/overview',
    query(schemas.nothing, () => overviewView(simulation)),
  );
  router.get(
    '/openapi.json',
    query(schemas.documentQuery, ({ environment }) =>
      describedService(simulation.dialect, environment, simulation.shaper),
    ),
  );
  addSales(router, simulation);
  addEsims(router, simulation);
  addLogs(router, simulation);
}

function addSales(router: Router, simulation: Simulation): void {
  const { sales } = simulation;
  const view = (sale: SaleRecord): unknown => saleView(simulation, sale);
  router.get(
    '/orders',
    query(schemas.orderReferenceQuery, ({ environment, external_order_id: reference, ...page }) =>
      listView((part) => sales.oldestFirst({ kind: 'order', environment, reference }, part), page, view),
    ),
  );
  router.get(
    '/topups',
    query(schemas.ofEsimQuery, ({ environment, esim_id: esimId, ...page }) =>
      listView((part) => sales.oldestFirst({ kind: 'topup', environment, esimId }, part), page, view),
    ),
  );
  router.get(
    '/vpn-subscriptions',
    query(schemas.vpnQuery, ({ environment, external_subscription_id: reference, ...page }) =>
      listView((part) => sales.oldestFirst({ kind: 'vpn', environment, reference }, part), page, view),
    ),
  );
  for (const kind of ['order', 'topup', 'vpn'] as const) {
    router.get(
      `${SALE_PATHS[kind]}/:id`,
      query(schemas.nothing, (_query, id) => view(saleOf(simulation, kind, id))),
    );
  }
}

function addEsims(router: Router, simulation: Simulation): void {
  const { esims, refunds } = simulation;
  const view = (esim: EsimRecord): unknown => esimView(simulation, esim);
  router.get(
    '/esims',
    query(schemas.pageQuery, ({ environment, ...page }) =>
      listView((part) => esims.oldestFirst(environment, part), page, view),
    ),
  );
  router.get(
    '/esims/:id',
    query(schemas.nothing, (_query, id) => view(esimOf(simulation, id))),
  );
  router.get(
    '/refunds',
    query(schemas.ofEsimQuery, ({ environment, esim_id: esimId, ...page }) =>
      listView((part) => refunds.oldestFirst({ environment, esimId }, part), page, refundView),
    ),
  );
  router.get(
    '/refunds/:id',
    query(schemas.nothing, (_query, id) => refundView(refundOf(simulation, id))),
  );
}

function addLogs(router: Router, simulation: Simulation): void {
  router.get(
    '/ledger',
    query(schemas.orderReferenceQuery, ({ environment, external_order_id: reference, ...page }) =>
      listView((part) => simulation.ledger.oldestFirst(environment, reference, part), page, ledgerView),
    ),
  );
  router.get(
    '/deliveries',
    query(schemas.deliveryQuery, ({ environment, event, status, subject, order_id, ...page }) =>
      listView(
        (part) => simulation.deliveries.oldestFirst({ environment, event, status, subject: subject ?? order_id }, part),
        page,
        (delivery) => deliveryView(simulation, delivery),
      ),
    ),
  );
  router.get(
    '/requests',
    query(schemas.requestQuery, ({ environment, endpoint, idempotency_key: key, ...page }) => {
      const filter = { environment, endpoint, idempotencyKey: key };
      return listView((part) => simulation.requests.oldestFirst(filter, part), page, requestView);
    }),
  );
}

/** @throws ServiceError 404 */
export function saleOf(simulation: Simulation, kind: SaleKind, id: string): SaleRecord {
  const sale = simulation.sales.get(kind, simulation.textId(id));
  if (sale === undefined) throw notFound(kind === 'vpn' ? 'VPN subscription' : kind);
  return sale;
}

/** @throws ServiceError 404 */
export function esimOf(simulation: Simulation, id: string): EsimRecord {
  const esim = simulation.esims.get(simulation.textId(id));
  if (esim === undefined) throw notFound('eSIM');
  return esim;
}

/** @throws ServiceError 404 */
export function refundOf(simulation: Simulation, id: string): RefundRecord {
  const refund = simulation.refunds.get(simulation.textId(id));
  if (refund === undefined) throw notFound('refund');
  return refund;
}
