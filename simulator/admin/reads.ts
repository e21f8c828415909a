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
import { shapeNames } from '#simulator/shapes/shape.ts';
import type { Simulation } from '#simulator/simulation.ts';
import { DELIVERY_STATUSES, type Esim, type Refund, type Sale, type SaleKind } from '#simulator/store/rows.ts';
import { ENVIRONMENTS, pageOfRows } from '#simulator/store/store.ts';
import { EVENT_KINDS } from '#upstream/contract.ts';

/** Calls without a body also accept an empty object. */
export const nothing = z.strictObject({});

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
  calls.get('/orders', ofOrder, ({ after, limit, environment, external_order_id: reference }) => {
    const filter = { kind: 'order', environment, reference } as const;
    return listed(simulation, store.list('sales', filter, part(after, limit), 'oldestFirst'), limit, saleView);
  });
  calls.get('/topups', ofEsim, ({ after, limit, environment, esim_id }) => {
    const filter = { kind: 'topup', environment, esim_id } as const;
    return listed(simulation, store.list('sales', filter, part(after, limit), 'oldestFirst'), limit, saleView);
  });
  const ofSubscription = z.strictObject({ ...page, external_subscription_id: text });
  calls.get('/vpn-subscriptions', ofSubscription, (query) => {
    const { after, limit, environment, external_subscription_id: reference } = query;
    const filter = { kind: 'vpn', environment, reference } as const;
    return listed(simulation, store.list('sales', filter, part(after, limit), 'oldestFirst'), limit, saleView);
  });
  for (const kind of ['order', 'topup', 'vpn'] as const) {
    calls.get(`${SALE_PATHS[kind]}/:id`, nothing, (_, id) => saleView(simulation, saleOf(simulation, kind, id)));
  }
  calls.get('/esims', z.strictObject(page), ({ after, limit, environment }) =>
    listed(simulation, store.list('esims', { environment }, part(after, limit), 'oldestFirst'), limit, esimView),
  );
  calls.get('/esims/:id', nothing, (_, id) => esimView(simulation, esimOf(simulation, id)));
  calls.get('/refunds', ofEsim, ({ after, limit, ...filter }) =>
    listed(simulation, store.list('refunds', filter, part(after, limit), 'oldestFirst'), limit, refundView),
  );
  calls.get('/refunds/:id', nothing, (_, id) => refundView(simulation, refundOf(simulation, id)));
  calls.get('/ledger', ofOrder, ({ after, limit, ...filter }) =>
    listed(simulation, store.list('ledger', filter, part(after, limit), 'oldestFirst'), limit, ledgerView),
  );

  const status = z.enum(DELIVERY_STATUSES).optional();
  // `order_id` has the same meaning as `subject`.
  const ofDelivery = z.strictObject({ ...page, event: text, status, subject: text, order_id: text });
  calls.get('/deliveries', ofDelivery, ({ after, limit, order_id, subject = order_id, ...others }) => {
    const filter = { ...others, subject };
    return listed(simulation, store.list('deliveries', filter, part(after, limit), 'oldestFirst'), limit, deliveryView);
  });
  calls.get('/deliveries/:id', nothing, (_, id) =>
    deliveryView(simulation, existing(store.get('deliveries', { id }), 'delivery')),
  );
  const ofRequest = z.strictObject({ ...page, endpoint: text, idempotency_key: text });
  calls.get('/requests', ofRequest, ({ after, limit, ...filter }) =>
    listed(simulation, store.list('requests', filter, part(after, limit), 'oldestFirst'), limit, requestView),
  );
}

/** One item more is read: it shows whether another page follows. */
function part(after: number | undefined, limit: number) {
  return { cursor: after, limit: limit + 1 };
}

type View<Row> = (simulation: Simulation, row: Row) => Record<string, unknown>;

function listed<Row extends { readonly sequence: number }>(
  simulation: Simulation,
  rows: readonly Row[],
  limit: number,
  view: View<Row>,
) {
  const { items, nextCursor } = pageOfRows(rows, limit);
  return { data: items.map((row) => view(simulation, row)), next_after: nextCursor };
}

export function saleOf(simulation: Simulation, kind: SaleKind, id: string): Sale {
  const sale = simulation.store.get('sales', { id: simulation.textId(id), kind });
  return existing(sale, kind === 'vpn' ? 'VPN subscription' : kind);
}

export function esimOf(simulation: Simulation, id: string): Esim {
  return existing(simulation.store.get('esims', { id: simulation.textId(id) }), 'eSIM');
}

export function refundOf(simulation: Simulation, id: string): Refund {
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
