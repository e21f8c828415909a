import type { Router } from 'express';
import { query } from '#simulator/admin/call.ts';
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
import { CANCELLATION_OUTCOMES, OUTCOMES, VPN_CANCELLATION_OUTCOMES } from '#simulator/behaviour/behaviours.ts';
import { dialectNames, endpointNames } from '#simulator/behaviour/dialect.ts';
import { faultProfileNames, requestFault, webhookFault } from '#simulator/behaviour/faults.ts';
import { notFound } from '#simulator/service/errors.ts';
import { describedService } from '#simulator/service/openapi.ts';
import { shapeNames } from '#simulator/shapes/shape.ts';
import type { Simulation } from '#simulator/simulation.ts';
import type { EsimRecord, RefundRecord } from '#simulator/store/esims.ts';
import type { SaleKind, SaleRecord } from '#simulator/store/sales.ts';
import { ENVIRONMENTS } from '#simulator/store/store.ts';
import { EVENT_KINDS } from '#upstream/contract.ts';

export const SALE_PATHS = {
  order: '/orders',
  topup: '/topups',
  vpn: '/vpn-subscriptions',
} as const satisfies Record<SaleKind, string>;

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
      listView((part) => sales.list({ kind: 'order', environment, reference }, part, 'oldestFirst'), page, view),
    ),
  );
  router.get(
    '/topups',
    query(schemas.ofEsimQuery, ({ environment, esim_id, ...page }) =>
      listView((part) => sales.list({ kind: 'topup', environment, esim_id }, part, 'oldestFirst'), page, view),
    ),
  );
  router.get(
    '/vpn-subscriptions',
    query(schemas.vpnQuery, ({ environment, external_subscription_id: reference, ...page }) =>
      listView((part) => sales.list({ kind: 'vpn', environment, reference }, part, 'oldestFirst'), page, view),
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
      listView((part) => esims.list(environment, part, 'oldestFirst'), page, view),
    ),
  );
  router.get(
    '/esims/:id',
    query(schemas.nothing, (_query, id) => view(esimOf(simulation, id))),
  );
  router.get(
    '/refunds',
    query(schemas.ofEsimQuery, ({ environment, esim_id, ...page }) =>
      listView((part) => refunds.list({ environment, esim_id }, part, 'oldestFirst'), page, refundView),
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
    query(schemas.orderReferenceQuery, ({ environment, external_order_id, ...page }) =>
      listView(
        (part) => simulation.ledger.list({ environment, external_order_id }, part, 'oldestFirst'),
        page,
        ledgerView,
      ),
    ),
  );
  router.get(
    '/deliveries',
    query(schemas.deliveryQuery, ({ environment, event, status, subject, order_id, ...page }) =>
      listView(
        (part) =>
          simulation.deliveries.list({ environment, event, status, subject: subject ?? order_id }, part, 'oldestFirst'),
        page,
        (delivery) => deliveryView(simulation, delivery),
      ),
    ),
  );
  router.get(
    '/requests',
    query(schemas.requestQuery, ({ environment, endpoint, idempotency_key, ...page }) => {
      const filter = { environment, endpoint, idempotency_key };
      return listView((part) => simulation.requests.list(filter, part, 'oldestFirst'), page, requestView);
    }),
  );
}

export function saleOf(simulation: Simulation, kind: SaleKind, id: string): SaleRecord {
  const sale = simulation.sales.get(kind, simulation.textId(id));
  if (sale === undefined) throw notFound(kind === 'vpn' ? 'VPN subscription' : kind);
  return sale;
}

export function esimOf(simulation: Simulation, id: string): EsimRecord {
  const esim = simulation.esims.get(simulation.textId(id));
  if (esim === undefined) throw notFound('eSIM');
  return esim;
}

export function refundOf(simulation: Simulation, id: string): RefundRecord {
  const refund = simulation.refunds.get(simulation.textId(id));
  if (refund === undefined) throw notFound('refund');
  return refund;
}

const SHOWN = 15;

/** Faults that need more than a kind and a time are missing. */
const CHOICES = {
  environments: ENVIRONMENTS.toReversed(),
  dialects: dialectNames,
  shapes: shapeNames,
  fault_profiles: faultProfileNames,
  faults: {
    request: { subjects: endpointNames, kinds: kindsOf(requestFault).filter((kind) => kind !== 'answer') },
    webhook: { subjects: EVENT_KINDS, kinds: kindsOf(webhookFault).filter((kind) => kind !== 'changed_event_header') },
  },
  outcomes: {
    order: OUTCOMES,
    topup: OUTCOMES,
    vpn: OUTCOMES,
    cancellation: CANCELLATION_OUTCOMES,
    vpn_cancellation: VPN_CANCELLATION_OUTCOMES,
  },
} as const;

function overviewView(simulation: Simulation): Record<string, unknown> {
  const { sales, esims, refunds, ledger, deliveries, requests, faults, behaviours } = simulation;
  const page = { cursor: undefined, limit: SHOWN };
  const sold = (kind: SaleKind): unknown[] =>
    sales.list({ kind }, page, 'newestFirst').map((sale) => saleView(simulation, sale));
  return {
    state: stateView(simulation),
    choices: CHOICES,
    orders: sold('order'),
    topups: sold('topup'),
    vpn_subscriptions: sold('vpn'),
    esims: esims.list(undefined, page, 'newestFirst').map((esim) => esimView(simulation, esim)),
    refunds: refunds.list({}, page, 'newestFirst').map(refundView),
    ledger: ledger.list({}, page, 'newestFirst').map(ledgerView),
    deliveries: deliveries.list({}, page, 'newestFirst').map((delivery) => deliveryView(simulation, delivery)),
    requests: requests.list({}, page, 'newestFirst').map(requestView),
    faults: faults.list(),
    behaviour: behaviours.list(),
  };
}

function kindsOf(union: typeof requestFault | typeof webhookFault): string[] {
  return union.options.flatMap((option) => [...option.shape.kind.values]);
}
