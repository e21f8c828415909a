import * as z from 'zod';
import type { EndpointName } from '#upstream/contract.ts';
import { CURRENCY } from '#simulator/catalogue.ts';
import type { Environment } from '#simulator/environment.ts';
import { jsonAnswer, notFound, parsed, ServiceError, validationFailed, type Answer } from '#simulator/service/errors.ts';
import { loginBody, orderBody } from '#simulator/service/request-bodies.ts';
import type { Simulation } from '#simulator/simulation.ts';
import { pageOfRows, type Page } from '#simulator/store/page.ts';
import { wireEsim, wireOrder, wirePackage, wireTransaction } from '#simulator/wire.ts';

/** A call that is authorized where that is needed; its parts are not yet judged. */
export interface ServiceCall {
  readonly environment: Environment;
  /** `{id}` of the path; empty where there is none. */
  readonly id: string;
  readonly query: Readonly<Record<string, string>>;
  readonly rawBody: Buffer;
  /** The body as JSON; undefined where the call has none. */
  readonly json: unknown;
  /** The Idempotency-Key; empty where the call has none. */
  readonly key: string;
  /** Extra time that the work takes, in milliseconds. */
  readonly workMs: number;
  /** Ends waits when the simulator stops. */
  readonly signal: AbortSignal;
}

export type Handler = (simulation: Simulation, call: ServiceCall) => Answer | Promise<Answer>;

const MAX_PAGE = 100;
const DEFAULT_PAGE = 50;

/** One handler for each endpoint of the contract: an endpoint added there does not compile until it is served here. */
export const HANDLERS: Readonly<Record<EndpointName, Handler>> = {
  login: ({ account }, { environment, json }) => {
    return jsonAnswer(200, account.logIn(environment, parsed(loginBody(environment), json)));
  },

  listPackages: ({ packages }, { query }) => {
    const page = pageFrom(query);
    const from = packages.list().filter(({ id }) => id > (page.cursor ?? -1));
    const rows = from.map((item) => ({ sequence: item.id, item }));
    return pageAnswer(rows, page, ({ item }) => wirePackage(item));
  },

  createOrder: async (simulation, call) => {
    const request = parsed(orderBody, call.json);
    if (call.environment === 'production' && !simulation.approved) {
      throw new ServiceError(403, 'not_approved', 'This reseller is not approved for production yet.');
    }
    const { environment, key, rawBody, workMs, signal } = call;
    return simulation.purchases.buy({ environment, key, rawBody, request, latencyMs: workMs, signal });
  },

  getOrder: ({ orders }, { environment, id }) => {
    const order = orders.get(id, environment);
    if (order === undefined) throw notFound('order');
    return jsonAnswer(200, wireOrder(order));
  },

  listOrders: ({ orders }, { environment, query }) => {
    const page = pageFrom(query);
    return pageAnswer(orders.newestFirst(environment, query['external_order_id'], oneMore(page)), page, wireOrder);
  },

  getEsim: ({ esims }, { environment, id }) => {
    const esim = esims.get(environment, id);
    if (esim === undefined) throw notFound('eSIM');
    return jsonAnswer(200, wireEsim(esim));
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

const QUERY_FIELDS = {
  cursor: z.string().regex(/^[A-Za-z0-9_-]{1,32}$/, 'is no cursor of this list').optional(),
  limit: z
    .string()
    .refine((text) => /^[1-9]\d{0,2}$/.test(text) && Number(text) <= MAX_PAGE, `must be a number from 1 to ${MAX_PAGE}`)
    .optional(),
  external_order_id: z.string().min(1).max(128).optional(),
  since: z.iso.datetime({ offset: true }).optional(),
} as const;

/** Judges query parameters. @param names those that the endpoint has. @throws ServiceError 422 */
export function queryFrom(query: unknown, names: readonly string[]): Readonly<Record<string, string>> {
  const known = Object.entries(QUERY_FIELDS).filter(([name]) => names.includes(name));
  const values = parsed(z.strictObject(Object.fromEntries(known)), query);
  const given = Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return Object.fromEntries(given);
}

function pageFrom(query: Readonly<Record<string, string>>): Page {
  const { cursor, limit } = query;
  return { cursor: cursor === undefined ? undefined : sequenceOf(cursor), limit: Number(limit ?? DEFAULT_PAGE) };
}

function oneMore(page: Page): Page {
  return { ...page, limit: page.limit + 1 };
}

function pageAnswer<Row extends { readonly sequence: number }>(
  rows: readonly Row[],
  page: Page,
  wire: (row: Row) => unknown,
): Answer {
  const { items, nextCursor } = pageOfRows(rows, page.limit);
  return jsonAnswer(200, {
    data: items.map(wire),
    next_cursor: nextCursor === null ? null : Buffer.from(String(nextCursor)).toString('base64url'),
  });
}

function sequenceOf(cursor: string): number {
  const text = Buffer.from(cursor, 'base64url').toString('latin1');
  if (!/^\d{1,15}$/.test(text)) throw validationFailed({ cursor: 'is no cursor of this list' });
  return Number(text);
}
