import type { Dialect } from '#simulator/behaviour/dialect.ts';
import type { KeyedCall } from '#simulator/sales/keyed-operations.ts';
import { type Answer, jsonAnswer, notFound, parsed } from '#simulator/service/errors.ts';
import { describedService } from '#simulator/service/openapi.ts';
import {
  catalogueAnswer,
  loginBody,
  oneMore,
  orderBody,
  pageAnswer,
  pageFrom,
  simulationBody,
  topupBody,
  vpnOrderBody,
  wholeList,
} from '#simulator/service/requests.ts';
import type { Simulation } from '#simulator/simulation.ts';
import type { EsimRecord } from '#simulator/store/esims.ts';
import type { LedgerFilter } from '#simulator/store/ledger.ts';
import type { SaleRecord } from '#simulator/store/sales.ts';
import type { Environment } from '#simulator/store/store.ts';
import { shownAmount, shownMovement } from '#simulator/wallet.ts';
import {
  wireEsim,
  wireOrder,
  wirePackage,
  wirePublicPackage,
  wireRefund,
  wireTopup,
  wireUsage,
  wireVpnPlan,
} from '#simulator/wire.ts';
import type { EndpointName } from '#upstream/contract.ts';

/** Authorized, not validated yet. */
interface ServiceCall extends KeyedCall {
  readonly query: Readonly<Record<string, string>>;
  readonly json: unknown;
}

type Handler = (simulation: Simulation, call: ServiceCall) => Answer | Promise<Answer>;

/** A new endpoint does not compile until it has a handler here. */
export const HANDLERS: Readonly<Record<EndpointName, Handler>> = {
  login: ({ account }, { environment, json }) => {
    return jsonAnswer(200, account.logIn(environment, parsed(loginBody(environment), json)));
  },

  listPackages: ({ packages }, { query }) => catalogueAnswer(packages.list(), pageFrom(query), wirePackage),

  createOrder: async ({ purchases }, call) => purchases.buyPackage(call, parsed(orderBody, call.json)),

  getOrder: ({ sales }, { environment, id }) => {
    const order = sales.get('order', id, environment);
    if (order === undefined) throw notFound('order');
    return jsonAnswer(200, wireOrder(order));
  },

  listOrders: ({ sales }, { environment, query }) => {
    const page = pageFrom(query);
    const filter = { kind: 'order', environment, reference: query['external_order_id'] } as const;
    return pageAnswer(sales.list(filter, oneMore(page), 'newestFirst'), page, wireOrder);
  },

  getEsim: ({ esims, esimLifecycle }, { environment, id }) => {
    const esim = esims.get(id, environment);
    if (esim === undefined) throw notFound('eSIM');
    return jsonAnswer(200, wireEsim(esim, esimLifecycle.state(esim)));
  },

  getWallet: ({ wallet, dialect }, { environment }) =>
    jsonAnswer(200, {
      balance: shownAmount(dialect, wallet.visibleBalance(environment, dialect.debits_visible_after_ms)),
      currency: dialect.wallet_currency,
    }),

  listWalletTransactions: ({ ledger, wallet, dialect, clock }, { environment, query }) => {
    const page = pageFrom(query);
    const filter = { reference: query['external_order_id'], ...shownBy(dialect, query['since'], clock.now()) };
    const order = dialect.wallet_newest_first ? 'newestFirst' : 'oldestFirst';
    const shown = shownMovement(dialect, clock.now());
    const answer = pageAnswer(ledger.shown(environment, filter, order, oneMore(page)), page, shown);
    const { wallet_others_move_ms: everyMs, wallet_other_currency: inOtherCurrency } = dialect;
    // One movement for each reading, after its first page.
    if (everyMs !== null && page.cursor === undefined) wallet.moveForOthers(environment, everyMs, inOtherCurrency);
    return answer;
  },

  getEsimUsage: (simulation, { environment, id }) => {
    const esim = requireEsim(simulation, environment, id);
    return jsonAnswer(200, wireUsage(esim, simulation.esimLifecycle.state(esim), simulation.clock.now()));
  },

  listTopupOptions: (simulation, { environment, id }) => {
    const options = simulation.esimLifecycle.topupOptions(requireEsim(simulation, environment, id));
    return wholeList(
      options.filter(({ available }) => available),
      wirePackage,
    );
  },

  createTopup: async ({ purchases }, call) => purchases.topUp(call, parsed(topupBody, call.json)),

  getTopup: ({ sales }, { environment, id }) => {
    const topup = sales.get('topup', id, environment);
    if (topup === undefined) throw notFound('top-up');
    return jsonAnswer(200, wireTopup(topup));
  },

  listTopups: ({ sales }, { environment, query }) => {
    const page = pageFrom(query);
    const filter = { kind: 'topup', environment, esim_id: query['esim_id'] } as const;
    return pageAnswer(sales.list(filter, oneMore(page), 'newestFirst'), page, wireTopup);
  },

  cancelEsim: async ({ cancellations }, call) => cancellations.cancel(call),

  getRefund: ({ refunds }, { environment, id }) => {
    const refund = refunds.get(id, environment);
    if (refund === undefined) throw notFound('refund');
    return jsonAnswer(200, wireRefund(refund));
  },

  listRefunds: ({ refunds }, { environment, query }) => {
    const page = pageFrom(query);
    const rows = refunds.list({ environment, esim_id: query['esim_id'] }, oneMore(page), 'newestFirst');
    return pageAnswer(rows, page, wireRefund);
  },

  simulateEsim: (simulation, { environment, id, json }) => {
    const { state } = parsed(simulationBody, json);
    const esim = simulation.esimLifecycle.changeState(requireEsim(simulation, environment, id), state);
    const { status, installed_at, activated_at } = wireEsim(esim, simulation.esimLifecycle.state(esim));
    return jsonAnswer(200, { id, status, installed_at, activated_at });
  },

  listVpnPlans: ({ plans }) => wholeList(plans.list(), wireVpnPlan),

  createVpnOrder: async ({ purchases }, call) => purchases.orderVpn(call, parsed(vpnOrderBody, call.json)),

  getVpnSubscription: (simulation, { environment, id }) => {
    return jsonAnswer(200, simulation.kinds.vpn.answer(requireSubscription(simulation, environment, id)));
  },

  listVpnSubscriptions: ({ sales, kinds }, { environment, query }) => {
    const page = pageFrom(query);
    const filter = { kind: 'vpn', environment, reference: query['external_subscription_id'] } as const;
    return pageAnswer(sales.list(filter, oneMore(page), 'newestFirst'), page, (sale) => kinds.vpn.answer(sale));
  },

  cancelVpnSubscription: (simulation, { environment, id }) => {
    const sale = requireSubscription(simulation, environment, id);
    simulation.vpnSubscriptions.cancel(sale);
    return jsonAnswer(200, simulation.kinds.vpn.answer(sale));
  },

  listPublicPackages: ({ packages }, { query }) => catalogueAnswer(packages.list(), pageFrom(query), wirePublicPackage),

  getLatestUpdate: ({ releases }, { query }) => {
    return jsonAnswer(200, releases.latest(query['current_version'] ?? '', query['channel'] ?? ''));
  },

  getOpenApi: ({ dialect, shaper }, { environment }) => jsonAnswer(200, describedService(dialect, environment, shaper)),

  createWebhookSecret: ({ endpoints }, { environment }) => jsonAnswer(201, endpoints.createSecret(environment)),

  rotateWebhookSecret: ({ endpoints }, { environment }) => jsonAnswer(200, endpoints.rotateSecret(environment)),
};

/** Undefined `since`: from the first movement on. */
function shownBy(dialect: Dialect, since: string | undefined, now: number): LedgerFilter {
  const {
    wallet_list_cached_ms: cached,
    wallet_rows_after_ms: rowsAfter,
    debits_visible_after_ms: debitsAfter,
  } = dialect;
  const { wallet_keeps_newest: newest, wallet_keeps_oldest: oldest } = dialect;
  const madeAt = cached === 0 ? now : now - (now % cached);
  return {
    since: since === undefined ? undefined : firstShown(dialect, Date.parse(since)),
    // Without a delay all movements are shown, also those of a time when the clock was ahead.
    until: cached === 0 && rowsAfter === 0 ? undefined : Math.min(madeAt, now - rowsAfter),
    debitsUntil: debitsAfter === 0 ? undefined : now - debitsAfter,
    newest: newest ?? undefined,
    oldest: oldest ?? undefined,
  };
}

function firstShown({ wallet_filter_shift_ms: shift, wallet_filter_edge_ms: edge }: Dialect, since: number): number {
  const shifted = since + shift;
  return edge === null ? shifted : shifted - (shifted % edge) + edge;
}

function requireEsim({ esims }: Simulation, environment: Environment, id: string): EsimRecord {
  const esim = esims.get(id, environment);
  if (esim === undefined) throw notFound('eSIM');
  return esim;
}

function requireSubscription({ sales }: Simulation, environment: Environment, id: string): SaleRecord {
  const sale = sales.get('vpn', id, environment);
  if (sale === undefined) throw notFound('VPN subscription');
  return sale;
}
