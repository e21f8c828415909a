import * as z from 'zod';
import type { AdminCalls } from '#simulator/admin/calls.ts';
import {
  deliveryView,
  esimView,
  ledgerView,
  refundView,
  requestView,
  saleView,
  stateView,
} from '#simulator/admin/views.ts';
import { CANCELLATION_OUTCOMES, OUTCOMES, VPN_CANCELLATION_OUTCOMES } from '#simulator/behaviour/behaviours.ts';
import { dialectNames, endpointNames } from '#simulator/behaviour/dialect.ts';
import { faultProfileNames, requestFault, webhookFault } from '#simulator/behaviour/faults.ts';
import { existing } from '#simulator/service/errors.ts';
import { describedService } from '#simulator/service/openapi.ts';
import { nothing, oneMore } from '#simulator/service/requests.ts';
import { shapeNames } from '#simulator/shapes/shape.ts';
import type { Simulation } from '#simulator/simulation.ts';
import { DELIVERY_STATUSES, type SaleKind, type Tables } from '#simulator/store/rows.ts';
import { ENVIRONMENTS, type Filter, type Listed, pageOfRows } from '#simulator/store/store.ts';
import { EVENT_KINDS } from '#upstream/contract.ts';

const page = {
  after: z.coerce.number().int().nonnegative().optional(),
  limit: z.coerce.number().int().min(1).max(10_000).default(1_000),
  environment: z.enum(ENVIRONMENTS).optional(),
};
const text = z.string().optional();

export const SALE_PATHS = {
  order: '/orders',
  topup: '/topups',
  vpn: '/vpn-subscriptions',
} as const satisfies Record<SaleKind, string>;

export function addReads(calls: AdminCalls, simulation: Simulation): void {
  const { store } = simulation;
  calls.get('/', nothing, () => stateView(simulation));
  calls.get('/state', nothing, () => stateView(simulation));
  calls.get('/health', nothing, () => ({ status: 'ok' }));
  calls.get('/overview', nothing, () => overviewView(simulation));
  const ofEnvironment = z.strictObject({ environment: z.enum(ENVIRONMENTS).default('sandbox') });
  calls.get('/openapi.json', ofEnvironment, ({ environment }) =>
    describedService(simulation.dialect, environment, simulation.shaper),
  );

  const ofOrder = z.strictObject({ ...page, external_order_id: text });
  const ofEsim = z.strictObject({ ...page, esim_id: text });
  const ofSubscription = z.strictObject({ ...page, external_subscription_id: text });
  calls.get('/orders', ofOrder, ({ after, limit, external_order_id: reference, ...others }) =>
    listed(simulation, 'sales', { kind: 'order', reference, ...others }, after, limit, saleView),
  );
  calls.get('/topups', ofEsim, ({ after, limit, ...filter }) =>
    listed(simulation, 'sales', { kind: 'topup', ...filter }, after, limit, saleView),
  );
  calls.get('/vpn-subscriptions', ofSubscription, ({ after, limit, external_subscription_id: reference, ...others }) =>
    listed(simulation, 'sales', { kind: 'vpn', reference, ...others }, after, limit, saleView),
  );
  for (const kind of ['order', 'topup', 'vpn'] as const) {
    calls.get(`${SALE_PATHS[kind]}/:id`, nothing, (_, id) => saleView(simulation, saleOf(simulation, kind, id)));
  }
  calls.get('/esims', z.strictObject(page), ({ after, limit, ...filter }) =>
    listed(simulation, 'esims', filter, after, limit, esimView),
  );
  calls.get('/esims/:id', nothing, (_, id) => esimView(simulation, esimOf(simulation, id)));
  calls.get('/refunds', ofEsim, ({ after, limit, ...filter }) =>
    listed(simulation, 'refunds', filter, after, limit, refundView),
  );
  calls.get('/refunds/:id', nothing, (_, id) => refundView(simulation, refundOf(simulation, id)));
  calls.get('/ledger', ofOrder, ({ after, limit, ...filter }) =>
    listed(simulation, 'ledger', filter, after, limit, ledgerView),
  );

  const status = z.enum(DELIVERY_STATUSES).optional();
  // `order_id` has the same meaning as `subject`.
  const ofDelivery = z.strictObject({ ...page, event: text, status, subject: text, order_id: text });
  calls.get('/deliveries', ofDelivery, ({ after, limit, order_id, subject = order_id, ...others }) =>
    listed(simulation, 'deliveries', { ...others, subject }, after, limit, deliveryView),
  );
  calls.get('/deliveries/:id', nothing, (_, id) =>
    deliveryView(simulation, existing(store.get('deliveries', { id }), 'delivery')),
  );
  const ofRequest = z.strictObject({ ...page, endpoint: text, idempotency_key: text });
  calls.get('/requests', ofRequest, ({ after, limit, ...filter }) =>
    listed(simulation, 'requests', filter, after, limit, requestView),
  );
}

type View<Row> = (simulation: Simulation, row: Row) => Record<string, unknown>;

function listed<Name extends Listed>(
  simulation: Simulation,
  table: Name,
  filter: Filter<Tables[Name]>,
  cursor: number | undefined,
  limit: number,
  view: View<Tables[Name]>,
) {
  const rows = simulation.store.list(table, filter, oneMore({ cursor, limit }), 'oldestFirst');
  const { items, nextCursor } = pageOfRows(rows, limit);
  return { data: items.map((row) => view(simulation, row)), next_after: nextCursor };
}

export function saleOf(simulation: Simulation, kind: SaleKind, id: string) {
  const sale = simulation.store.get('sales', { id: simulation.textId(id), kind });
  return existing(sale, kind === 'vpn' ? 'VPN subscription' : kind);
}

export function esimOf(simulation: Simulation, id: string) {
  return existing(simulation.store.get('esims', { id: simulation.textId(id) }), 'eSIM');
}

export function refundOf(simulation: Simulation, id: string) {
  return existing(simulation.store.get('refunds', { id: simulation.textId(id) }), 'refund');
}

const SHOWN = { cursor: undefined, limit: 15 };

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
  const { store, faults, behaviours } = simulation;
  const shown = <Row>(rows: readonly Row[], view: View<Row>) => rows.map((row) => view(simulation, row));
  const sold = (kind: SaleKind) => shown(store.list('sales', { kind }, SHOWN, 'newestFirst'), saleView);
  return {
    state: stateView(simulation),
    choices: CHOICES,
    orders: sold('order'),
    topups: sold('topup'),
    vpn_subscriptions: sold('vpn'),
    esims: shown(store.list('esims', {}, SHOWN, 'newestFirst'), esimView),
    refunds: shown(store.list('refunds', {}, SHOWN, 'newestFirst'), refundView),
    ledger: shown(store.list('ledger', {}, SHOWN, 'newestFirst'), ledgerView),
    deliveries: shown(store.list('deliveries', {}, SHOWN, 'newestFirst'), deliveryView),
    requests: shown(store.list('requests', {}, SHOWN, 'newestFirst'), requestView),
    faults: faults.list(),
    behaviour: behaviours.list(),
  };
}

function kindsOf(union: typeof requestFault | typeof webhookFault): string[] {
  return union.options.flatMap((option) => [...option.shape.kind.values]);
}
