import type { Dialect } from '#simulator/behaviour/dialect.ts';
import type { Handlers } from '#simulator/service/call.ts';
import { jsonAnswer, notFound, parsed } from '#simulator/service/errors.ts';
import { catalogueAnswer, oneMore, pageAnswer, pageFrom } from '#simulator/service/query.ts';
import { loginBody, orderBody } from '#simulator/service/request-bodies.ts';
import { shownAmount, shownMovement } from '#simulator/service/shown-movements.ts';
import type { LedgerFilter } from '#simulator/store/ledger.ts';
import { wireEsim, wireOrder, wirePackage } from '#simulator/wire.ts';

type OrderEndpoint =
  | 'login'
  | 'listPackages'
  | 'createOrder'
  | 'getOrder'
  | 'listOrders'
  | 'getEsim'
  | 'getWallet'
  | 'listWalletTransactions';

/** Handlers about access, packages, orders, the delivery of an eSIM, and the wallet. */
export const ORDER_HANDLERS: Handlers<OrderEndpoint> = {
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
    return pageAnswer(sales.newestFirst(filter, oneMore(page)), page, wireOrder);
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
    const answer = pageAnswer(ledger.list(environment, filter, order, oneMore(page)), page, shown);
    const { wallet_others_move_ms: everyMs, wallet_other_currency: inOtherCurrency } = dialect;
    // One movement for each reading, after its first page.
    if (everyMs !== null && page.cursor === undefined) wallet.moveForOthers(environment, everyMs, inOtherCurrency);
    return answer;
  },
};

/** The movements that a dialect shows. @param since as sent; undefined: from the first movement on. */
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

/** Time of the first movement that a filter lets through. @param since epoch milliseconds. */
function firstShown({ wallet_filter_shift_ms: shift, wallet_filter_edge_ms: edge }: Dialect, since: number): number {
  const shifted = since + shift;
  return edge === null ? shifted : shifted - (shifted % edge) + edge;
}
