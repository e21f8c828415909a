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
import { dialectNames } from '#simulator/behaviour/dialect.ts';
import { faultProfileNames } from '#simulator/behaviour/fault-profile.ts';
import { requestFault, webhookFault } from '#simulator/behaviour/faults.ts';
import { ENVIRONMENTS } from '#simulator/environment.ts';
import { endpointNames } from '#simulator/service/served.ts';
import { shapeNames } from '#simulator/shapes/shape.ts';
import type { Simulation } from '#simulator/simulation.ts';
import type { SaleKind } from '#simulator/store/sales.ts';
import { EVENT_KINDS } from '#upstream/contract.ts';

/** Number of items of each kind on the status page. */
const SHOWN = 15;

/** The choices in the forms of the page. Faults that need more than a kind and a time are missing. */
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

/** All data of the status page, newest first. */
export function overviewView(simulation: Simulation): Record<string, unknown> {
  const { sales, esims, refunds, ledger, deliveries, requests, faults, behaviours } = simulation;
  const page = { cursor: undefined, limit: SHOWN };
  const sold = (kind: SaleKind): unknown[] =>
    sales.newestFirst({ kind }, page).map((sale) => saleView(simulation, sale));
  return {
    state: stateView(simulation),
    choices: CHOICES,
    orders: sold('order'),
    topups: sold('topup'),
    vpn_subscriptions: sold('vpn'),
    esims: esims.newestFirst(undefined, page).map((esim) => esimView(simulation, esim)),
    refunds: refunds.newestFirst({}, page).map(refundView),
    ledger: ledger.newest(SHOWN).map(ledgerView),
    deliveries: deliveries.newest(SHOWN).map((delivery) => deliveryView(simulation, delivery)),
    requests: requests.newest(SHOWN).map(requestView),
    faults: faults.list(),
    behaviour: behaviours.list(),
  };
}

function kindsOf(union: typeof requestFault | typeof webhookFault): string[] {
  return union.options.flatMap((option) => [...option.shape.kind.values]);
}
