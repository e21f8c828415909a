import { CURRENCY } from '#simulator/catalogue/catalogue.ts';
import type { Handlers } from '#simulator/service/call.ts';
import { jsonAnswer, notFound, parsed } from '#simulator/service/errors.ts';
import { catalogueAnswer, oneMore, pageAnswer, pageFrom } from '#simulator/service/query.ts';
import { loginBody, orderBody } from '#simulator/service/request-bodies.ts';
import { wireEsim, wireOrder, wirePackage, wireTransaction } from '#simulator/wire.ts';

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
      balance: wallet.visibleBalance(environment, dialect.debits_visible_after_ms),
      currency: CURRENCY,
    }),

  listWalletTransactions: ({ ledger, dialect, clock }, { environment, query }) => {
    const page = pageFrom(query);
    const since = query['since'] === undefined ? undefined : Date.parse(query['since']);
    const hiddenFor = dialect.debits_visible_after_ms;
    const filter = {
      reference: query['external_order_id'],
      since,
      debitsUntil: hiddenFor === 0 ? undefined : clock.now() - hiddenFor,
    };
    return pageAnswer(ledger.newestFirst(environment, filter, oneMore(page)), page, wireTransaction);
  },
};
