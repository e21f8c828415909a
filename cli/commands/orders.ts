import { resolve as resolvePath } from 'node:path';
import * as z from 'zod';
import { ApiClient, ApiError } from '#cli/api-client.ts';
import { readDevApiKey } from '#cli/start/dev-api-key.ts';
import { UserError } from '#cli/user-error.ts';
import type { Environment } from '#config/config.ts';

/** Where the API is, and with which key: of a running `npm start`, or RESELLER_API_KEY. */
export interface ApiOptions {
  readonly api: string;
  readonly data: string;
}

/** Which orders; each filter narrows the choice. */
export interface OrderChoice {
  readonly status?: string;
  readonly failureClass?: string;
  readonly attention?: string;
}

export interface ActOptions extends ApiOptions, OrderChoice {
  readonly why: string;
  readonly dryRun?: boolean;
}

const order = z.object({
  id: z.string(),
  status: z.string(),
  external_order_id: z.string(),
  package_id: z.int(),
  failure: z.object({ class: z.string() }).nullable(),
  attention: z.object({ reason: z.string() }).nullable(),
  next_step_at: z.string().nullable(),
});
type Order = z.output<typeof order>;
const page = z.object({ data: z.array(order), next_cursor: z.string().nullable() });

const PAGE = 100;

/** `reseller orders list`. */
export async function listOrders(choice: OrderChoice & ApiOptions, environment: Environment): Promise<void> {
  for (const found of await chosen(apiOf(choice, environment), choice)) process.stdout.write(`${line(found)}\n`);
}

/**
 * `reseller orders retry` and `abandon`: on the orders that are named, or on all that the filters choose. Each is an act
 * of its own, with its own record; one that is refused does not stop the others.
 *
 * @returns the exit code: 1 when any was refused.
 */
export async function actOnOrders(
  action: 'retry' | 'abandon',
  ids: readonly string[],
  options: ActOptions,
  environment: Environment,
): Promise<number> {
  const api = apiOf(options, environment);
  const filtered = options.status !== undefined || options.failureClass !== undefined || options.attention !== undefined;
  if (ids.length === 0 && !filtered) {
    throw new UserError('It is not said which orders.', 'Name their ids, or choose with --status, --failure-class or --attention.');
  }
  if (ids.length > 0 && filtered) {
    throw new UserError('Orders are both named and chosen by a filter.', 'Do one or the other, so that nothing is hit by mistake.');
  }
  const orders = ids.length > 0 ? await Promise.all(ids.map((id) => read(api, id))) : await chosen(api, options);
  if (options.dryRun === true) {
    for (const found of orders) process.stdout.write(`would ${action}: ${line(found)}\n`);
    process.stdout.write(`${orders.length} orders. Nothing was done.\n`);
    return 0;
  }
  let refused = 0;
  for (const { id } of orders) {
    if (!(await act(api, id, action, { why: options.why }))) refused += 1;
  }
  process.stdout.write(`${orders.length - refused} of ${orders.length} done.\n`);
  return refused === 0 ? 0 : 1;
}

/** `reseller orders limit`. @param maxPrice `12.50 EUR`, or `none`. @returns the exit code. */
export async function changeLimit(
  id: string,
  maxPrice: string,
  options: ApiOptions & { readonly why: string },
  environment: Environment,
): Promise<number> {
  const [amount, currency, ...more] = maxPrice.split(' ');
  if (maxPrice !== 'none' && (amount === undefined || currency === undefined || more.length > 0)) {
    throw new UserError(`${JSON.stringify(maxPrice)} is no price.`, 'Write it like "12.50 EUR", or none.');
  }
  const limit = maxPrice === 'none' ? null : { amount, currency };
  return (await act(apiOf(options, environment), id, 'limit', { why: options.why, max_price: limit })) ? 0 : 1;
}

/** `reseller orders resolve`. @returns the exit code. */
export async function resolveCase(
  id: string,
  options: ApiOptions & {
    readonly why: string;
    readonly case: string;
    readonly verdict: string;
    readonly serviceOrderId?: string;
    readonly serviceEsimId?: string;
    readonly next?: string;
  },
  environment: Environment,
): Promise<number> {
  const body = {
    why: options.why,
    case: options.case,
    verdict: options.verdict,
    service_order_id: options.serviceOrderId,
    service_esim_id: options.serviceEsimId,
    next: options.next,
  };
  return (await act(apiOf(options, environment), id, 'resolve', body)) ? 0 : 1;
}

/** @returns false when the order does not allow it; the reason is printed. */
async function act(api: ApiClient, id: string, action: string, body: Record<string, unknown>): Promise<boolean> {
  try {
    process.stdout.write(`${line(await api.call({ path: `/v1/orders/${id}/${action}`, body, answer: order }))}\n`);
    return true;
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 409) throw error;
    process.stdout.write(`${id}  refused: ${error.message}\n`);
    return false;
  }
}

async function read(api: ApiClient, id: string): Promise<Order> {
  return api.call({ path: `/v1/orders/${encodeURIComponent(id)}`, answer: order });
}

/** All of them before anything is done: acting on an order may move it out of its own filter. */
async function chosen(api: ApiClient, { status, failureClass, attention }: OrderChoice): Promise<Order[]> {
  const query = new URLSearchParams({ limit: String(PAGE) });
  for (const [name, value] of Object.entries({ status, failure_class: failureClass, attention })) {
    if (value !== undefined) query.set(name, value);
  }
  const orders: Order[] = [];
  for (;;) {
    const { data, next_cursor: next } = await api.call({ path: `/v1/orders?${query.toString()}`, answer: page });
    orders.push(...data);
    if (next === null) return orders;
    query.set('cursor', next);
  }
}

function apiOf({ api, data }: ApiOptions, environment: Environment): ApiClient {
  const folder = resolvePath(data);
  const key = environment['RESELLER_API_KEY'] ?? readDevApiKey(folder);
  if (key === undefined || key === '') {
    throw new UserError(
      `There is no API key: RESELLER_API_KEY is not set, and ${folder} holds none.`,
      'Make one with `reseller keys create NAME --scopes orders:read,orders:operate` and put it into RESELLER_API_KEY.',
    );
  }
  return new ApiClient({ url: api, key });
}

function line({ id, status, external_order_id: reference, package_id: packageId, failure, attention, next_step_at: next }: Order): string {
  const why = attention?.reason ?? failure?.class;
  return [id, status, ...(why === undefined ? [] : [`(${why})`]), `package ${packageId}`, reference, ...(next === null ? [] : [`next step ${next}`])].join('  ');
}
