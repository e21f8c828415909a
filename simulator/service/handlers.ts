import { logIn } from '#simulator/account.ts';
import { cancelEsim } from '#simulator/sales/cancellations.ts';
import { changeEsimState, esimState, topupOptions } from '#simulator/sales/esims.ts';
import type { KeyedCall } from '#simulator/sales/keyed-operations.ts';
import { saleAnswer } from '#simulator/sales/progress.ts';
import { buyPackage, orderVpn, topUp } from '#simulator/sales/purchases.ts';
import { cancelSubscription } from '#simulator/sales/vpn-subscriptions.ts';
import { type Answer, existing, jsonAnswer, parsed } from '#simulator/service/errors.ts';
import { describedService } from '#simulator/service/openapi.ts';
import {
  catalogueAnswer,
  LOGIN_BODIES,
  oneMore,
  orderBody,
  pageAnswer,
  pageFrom,
  simulationBody,
  topupBody,
  vpnOrderBody,
  wholeList,
} from '#simulator/service/requests.ts';
import { latestRelease } from '#simulator/service/updates.ts';
import type { Simulation } from '#simulator/simulation.ts';
import type { Esim, Sale, SaleKind } from '#simulator/store/rows.ts';
import type { Filter } from '#simulator/store/store.ts';
import { shownAmount, shownMovement, shownMovements, visibleBalance } from '#simulator/wallet.ts';
import { createSecret, rotateSecret } from '#simulator/webhooks/endpoints.ts';
import { wireEsim, wirePackage, wirePublicPackage, wireRefund, wireUsage, wireVpnPlan } from '#simulator/wire.ts';
import type { EndpointName } from '#upstream/contract.ts';

/** Authorized, not validated yet. */
interface ServiceCall extends KeyedCall {
  readonly query: Readonly<Record<string, string>>;
  readonly json: unknown;
}

type Handler = (simulation: Simulation, call: ServiceCall) => Answer | Promise<Answer>;

/** A new endpoint does not compile until it has a handler here. */
export const HANDLERS: Readonly<Record<EndpointName, Handler>> = {
  login: (simulation, { environment, json }) =>
    jsonAnswer(200, logIn(simulation, environment, parsed(LOGIN_BODIES[environment], json))),

  listPackages: ({ packages }, { query }) => catalogueAnswer(packages.list(), pageFrom(query), wirePackage),
  listPublicPackages: ({ packages }, { query }) => catalogueAnswer(packages.list(), pageFrom(query), wirePublicPackage),
  listVpnPlans: ({ plans }) => wholeList(plans.list(), wireVpnPlan),
  listTopupOptions: (simulation, call) => {
    const options = topupOptions(simulation, esimOf(simulation, call)).filter(({ available }) => available);
    return wholeList(options, wirePackage);
  },

  createOrder: async (simulation, call) => buyPackage(simulation, call, parsed(orderBody, call.json)),
  createTopup: async (simulation, call) => topUp(simulation, call, parsed(topupBody, call.json)),
  createVpnOrder: async (simulation, call) => orderVpn(simulation, call, parsed(vpnOrderBody, call.json)),

  getOrder: saleRead('order', 'order'),
  getTopup: saleRead('topup', 'top-up'),
  getVpnSubscription: saleRead('vpn', 'VPN subscription'),
  listOrders: saleList('order', ({ external_order_id: reference }) => ({ reference })),
  listTopups: saleList('topup', ({ esim_id }) => ({ esim_id })),
  listVpnSubscriptions: saleList('vpn', ({ external_subscription_id: reference }) => ({ reference })),

  getEsim: (simulation, call) => {
    const esim = esimOf(simulation, call);
    return jsonAnswer(200, wireEsim(esim, esimState(simulation, esim)));
  },
  getEsimUsage: (simulation, call) => {
    const esim = esimOf(simulation, call);
    return jsonAnswer(200, wireUsage(esim, esimState(simulation, esim), simulation.clock.now()));
  },
  simulateEsim: (simulation, call) => {
    const { state } = parsed(simulationBody, call.json);
    const esim = changeEsimState(simulation, esimOf(simulation, call), state);
    const { id, status, installed_at, activated_at } = wireEsim(esim, esimState(simulation, esim));
    return jsonAnswer(200, { id, status, installed_at, activated_at });
  },

  cancelEsim,
  getRefund: ({ store }, { environment, id }) =>
    jsonAnswer(200, wireRefund(existing(store.get('refunds', { id, environment }), 'refund'))),
  listRefunds: ({ store }, { environment, query }) => {
    const page = pageFrom(query);
    const filter = { environment, esim_id: query['esim_id'] };
    return pageAnswer(store.list('refunds', filter, oneMore(page), 'newestFirst'), page, wireRefund);
  },
  cancelVpnSubscription: (simulation, call) => {
    const sale = saleOf(simulation, call, 'vpn', 'VPN subscription');
    cancelSubscription(simulation, sale);
    return jsonAnswer(200, saleAnswer(simulation, sale));
  },

  getWallet: (simulation, { environment }) => {
    const { dialect } = simulation;
    const balance = shownAmount(dialect, visibleBalance(simulation, environment));
    return jsonAnswer(200, { balance, currency: dialect.wallet_currency });
  },
  listWalletTransactions: (simulation, { environment, query }) => {
    const page = pageFrom(query);
    const filter = { reference: query['external_order_id'], since: query['since'] };
    const movements = shownMovements(simulation, environment, filter, oneMore(page));
    return pageAnswer(movements, page, (movement) => shownMovement(simulation, movement));
  },

  getLatestUpdate: ({ store }, { query }) =>
    jsonAnswer(200, latestRelease(store, query['current_version'] ?? '', query['channel'] ?? '')),
  getOpenApi: ({ dialect, shaper }, { environment }) => jsonAnswer(200, describedService(dialect, environment, shaper)),
  createWebhookSecret: (simulation, { environment }) => jsonAnswer(201, createSecret(simulation, environment)),
  rotateWebhookSecret: (simulation, { environment }) => jsonAnswer(200, rotateSecret(simulation, environment)),
};

function saleRead(kind: SaleKind, what: string): Handler {
  return (simulation, call) => jsonAnswer(200, saleAnswer(simulation, saleOf(simulation, call, kind, what)));
}

function saleList(kind: SaleKind, filterOf: (query: ServiceCall['query']) => Filter<Sale>): Handler {
  return (simulation, { environment, query }) => {
    const page = pageFrom(query);
    const filter = { kind, environment, ...filterOf(query) };
    const sales = simulation.store.list('sales', filter, oneMore(page), 'newestFirst');
    return pageAnswer(sales, page, (sale) => saleAnswer(simulation, sale));
  };
}

function saleOf({ store }: Simulation, { environment, id }: ServiceCall, kind: SaleKind, what: string): Sale {
  return existing(store.get('sales', { id, kind, environment }), what);
}

function esimOf({ store }: Simulation, { environment, id }: ServiceCall): Esim {
  return existing(store.get('esims', { id, environment }), 'eSIM');
}
