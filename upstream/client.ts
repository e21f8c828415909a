import type { Capabilities, Capability } from '#domain/capabilities.ts';
import type { AnswerOf, Caller, CallOptions } from '#upstream/call.ts';
import {
  IDEMPOTENCY_KEY_HEADER,
  type EndpointName,
  type ServiceEsim,
  type ServiceOrder,
  type ServicePackage,
  type ServiceWallet,
  type WalletTransaction,
} from '#upstream/contract.ts';
import type { ServiceFailure, ServiceResult } from '#upstream/error-mapping.ts';
import type { ServiceSession } from '#upstream/session.ts';

/** The service does not have this call; a caller must say what it does instead. */
export interface Unsupported {
  readonly ok: false;
  readonly kind: 'unsupported';
  readonly capability: Capability;
}

export type OptionalResult<Value> = ServiceResult<Value> | Unsupported;

/** Items of a list with all its pages. */
export interface Listing<Item> {
  readonly items: readonly Item[];
  /** False when there may be more than what is here; then absence proves nothing. */
  readonly complete: boolean;
}

/**
 * The calls of the service. None throws; each result is a success, or a member of the failure catalogue. Each call has
 * one deadline for everything in it, all pages of a list included. The only thing that is ever sent again by itself is
 * a request that was answered with 401: same bytes, other token, once.
 */
export interface ServiceClient {
  listPackages(): Promise<ServiceResult<Listing<ServicePackage>>>;
  /**
   * Buys. The deadline covers everything in it: a login, the send, and after a 401 the second login and send.
   *
   * @param order.body the stored bytes of the attempt, sent as they are.
   * @param order.reference the reference in those bytes; an answer about another one is contract drift.
   */
  createOrder(order: { idempotencyKey: string; body: Buffer; reference: string }): Promise<ServiceResult<ServiceOrder>>;
  /** Needs `order_read`. A failure with status 404: the service has no such order. */
  getOrder(id: string): Promise<OptionalResult<ServiceOrder>>;
  /** Needs `order_list`. Only orders that name this reference, also when the service ignores the filter. */
  findOrdersByReference(reference: string): Promise<OptionalResult<Listing<ServiceOrder>>>;
  getEsim(id: string): Promise<ServiceResult<ServiceEsim>>;
  getWallet(): Promise<ServiceResult<ServiceWallet>>;
  /**
   * Needs `wallet_transactions`. Everything that the service returns, unfiltered: a debit that names no reference may
   * be the one that is looked for.
   *
   * @param filter.since epoch milliseconds.
   */
  listWalletTransactions(
    filter: { readonly reference: string } | { readonly since: number },
  ): Promise<OptionalResult<Listing<WalletTransaction>>>;
}

export interface ServiceClientOptions {
  readonly call: Caller;
  readonly session: ServiceSession;
  readonly capabilities: Capabilities;
  /** Milliseconds for one call with everything in it; below the lease of a send. */
  readonly deadlineMs: number;
  /** Milliseconds from any start, never stepping back: a clock that is set right must not outlast a lease. */
  readonly monotonicNow?: () => number;
}

const monotonicSystemClock = () => performance.now();

const PAGE_SIZE = 100;
// Ten thousand packages or transactions; more is not read in one go.
const MAX_PAGES = 100;
// One reference has one order. Many pages mean that the filter is ignored, and reading them all helps nobody.
const MAX_PAGES_OF_A_REFERENCE = 5;
// With less than this share of the deadline left, a send would trade "certainly not bought" for "perhaps".
const SEND_NEEDS_SHARE = 0.25;

type ListName = Extract<EndpointName, `list${string}`>;
type ItemOf<Name extends ListName> = AnswerOf<Name>['data'][number];

export function createServiceClient(options: ServiceClientOptions): ServiceClient {
  const { capabilities } = options;
  const without = (capability: Capability): Unsupported | undefined =>
    capabilities[capability] ? undefined : { ok: false, kind: 'unsupported', capability };

  return {
    listPackages: async () => await listAll(options, 'listPackages', {}, MAX_PAGES),
    createOrder: async ({ idempotencyKey, body, reference }) =>
      await authorized(
        options,
        'createOrder',
        { body, headers: { [IDEMPOTENCY_KEY_HEADER]: idempotencyKey } },
        (order) =>
          (order.external_order_id ?? reference) === reference
            ? undefined
            : 'its external_order_id is not the one that was sent',
      ),
    getOrder: async (id) => without('order_read') ?? (await authorized(options, 'getOrder', { id }, sameId(id))),
    findOrdersByReference: async (reference) => {
      const unsupported = without('order_list');
      if (unsupported !== undefined) return unsupported;
      const result = await listAll(options, 'listOrders', { external_order_id: reference }, MAX_PAGES_OF_A_REFERENCE);
      return result.ok ? { ...result, value: ofReference(result.value, reference) } : result;
    },
    getEsim: async (id) => await authorized(options, 'getEsim', { id }, sameId(id)),
    getWallet: async () => await authorized(options, 'getWallet', {}),
    listWalletTransactions: async (filter) => {
      const query =
        'reference' in filter
          ? { external_order_id: filter.reference }
          : { since: new Date(filter.since).toISOString() };
      return without('wallet_transactions') ?? (await listAll(options, 'listWalletTransactions', query, MAX_PAGES));
    },
  };
}

function sameId(id: string): (value: { readonly id: string }) => string | undefined {
  return (value) => (value.id === id ? undefined : 'its id is not the one that was asked for');
}

function ofReference(orders: Listing<ServiceOrder>, reference: string): Listing<ServiceOrder> {
  const items = orders.items.filter((order) => order.external_order_id === reference);
  // One that names no reference may be the one.
  const allNamed = orders.items.every((order) => typeof order.external_order_id === 'string');
  return { items, complete: orders.complete && allNamed };
}

/** One call with a token; a 401 renews the shared token and sends the same bytes once more, within one deadline. */
async function authorized<Name extends EndpointName>(
  { call, session, deadlineMs: fullDeadlineMs, monotonicNow: now = monotonicSystemClock }: ServiceClientOptions,
  endpoint: Name,
  request: Omit<CallOptions, 'deadlineMs'>,
  contradiction?: (value: AnswerOf<Name>) => string | undefined,
  deadlineMs = fullDeadlineMs,
): Promise<ServiceResult<AnswerOf<Name>>> {
  const deadlineAt = now() + deadlineMs;
  const left = () => deadlineAt - now();
  const send = async (accessToken: string): Promise<ServiceResult<AnswerOf<Name>>> => {
    if (left() < deadlineMs * SEND_NEEDS_SHARE) return TOO_LATE;
    const headers = { ...request.headers, authorization: `Bearer ${accessToken}` };
    return await call(endpoint, { ...request, headers, deadlineMs: Math.floor(left()) }, contradiction);
  };

  const held = await session.token(left());
  if (!held.ok) return held;
  const first = await send(held.token.accessToken);
  if (first.ok || first.failure !== 'unauthorized') return first;

  const renewed = await session.renewAfter401(held.token.version, left());
  if (!renewed.ok) return renewed;
  const second = await send(renewed.token.accessToken);
  if (!second.ok && second.failure === 'unauthorized') session.refusedAfterRenewal(renewed.token.version);
  return second;
}

const TOO_LATE: ServiceFailure = {
  ok: false,
  kind: 'failure',
  failure: 'not_sent',
  detail: 'Getting an access token took too much of the deadline, so nothing was sent.',
};

async function listAll<Name extends ListName>(
  options: ServiceClientOptions,
  endpoint: Name,
  filter: Readonly<Record<string, string>>,
  maxPages: number,
): Promise<ServiceResult<Listing<ItemOf<Name>>>> {
  const { monotonicNow: now = monotonicSystemClock } = options;
  const deadlineAt = now() + options.deadlineMs;
  const items: ItemOf<Name>[] = [];
  let cursor: string | undefined;
  for (let page = 1; ; page += 1) {
    const deadlineMs = deadlineAt - now();
    if (deadlineMs <= 0) {
      const detail = `The list has more pages than the ${page - 1} that were read in time.`;
      return { ok: false, kind: 'failure', failure: 'timeout', detail };
    }
    const query = { ...filter, limit: String(PAGE_SIZE), cursor };
    const result = await authorized(options, endpoint, { query }, undefined, deadlineMs);
    if (!result.ok) return result;
    items.push(...(result.value.data as ItemOf<Name>[]));
    const next = result.value.next_cursor ?? '';
    const complete = next === '';
    // A cursor that leads back to its own page would never end.
    if (complete || next === cursor || page === maxPages) {
      return { ok: true, value: { items, complete }, status: result.status };
    }
    cursor = next;
  }
}
