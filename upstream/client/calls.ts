import type { Capabilities, Capability } from '#domain/service/capability-profile.ts';
import type { ServiceMode } from '#domain/service/service-address.ts';
import { counted } from '#domain/text.ts';
import type { AnswerOf, Caller, CallOptions, ItemOf, ListName } from '#upstream/client/call.ts';
import type { Match, ServiceFailure, ServiceResult } from '#upstream/client/error-mapping.ts';
import { PagesRead, type Listing, type Query } from '#upstream/client/listing.ts';
import type { ServiceSession } from '#upstream/client/session.ts';
import { ENDPOINTS, type EndpointContract, type EndpointName } from '#upstream/contract.ts';
import type { ListPage } from '#upstream/reading/body.ts';

export type { Listing } from '#upstream/client/listing.ts';

/** The call was not made, because the service lacks the capability that it needs. */
export interface Unsupported {
  readonly ok: false;
  readonly kind: 'unsupported';
  readonly capability: Capability;
}

export type OptionalResult<Value> = ServiceResult<Value> | Unsupported;

export interface ServiceClientOptions {
  readonly call: Caller;
  readonly session: ServiceSession;
  /** In production, sandbox-only calls are refused before anything is sent. */
  readonly mode: ServiceMode;
  readonly capabilities: Capabilities;
  /** Milliseconds for one call, login and repetition included; shorter than the lease of a send. */
  readonly deadlineMs: number;
  /** Milliseconds of a monotonic clock. Correcting the wall clock must not extend a call beyond its lease. */
  readonly monotonicNow?: () => number;
}

/**
 * Calls that need a capability. The compiler keeps them out of {@link Calls.one} and {@link Calls.list}, so that every
 * caller handles {@link Unsupported}.
 */
export type OptionalName = {
  [Name in EndpointName]: (typeof ENDPOINTS)[Name] extends { readonly capability: Capability } ? Name : never;
}[EndpointName];
type CertainName = Exclude<EndpointName, OptionalName | 'login'>;

type Request = Omit<CallOptions, 'deadlineMs'>;

/** The lease of a send; a call that spends money carries it. */
export interface SendLease {
  /**
   * Remaining milliseconds of the lease. When they do not exceed the deadline of the call, nothing is sent. Absent: the
   * lease does not end.
   */
  readonly leaseLeftMs?: () => number;
}
type MatchOf<Name extends EndpointName> = Match<AnswerOf<Name>>;

/** The ways in which the methods of the client make their calls. None throws. */
export interface Calls {
  one<Name extends Exclude<CertainName, ListName>>(
    endpoint: Name,
    request: Request,
    match?: MatchOf<Name>,
  ): Promise<ServiceResult<AnswerOf<Name>>>;
  optional<Name extends Exclude<OptionalName, ListName>>(
    endpoint: Name,
    request: Request,
    match?: MatchOf<Name>,
  ): Promise<OptionalResult<AnswerOf<Name>>>;
  /** Reads all pages, within one deadline. */
  list<Name extends CertainName & ListName>(
    endpoint: Name,
    options?: ListOptions<ItemOf<Name>>,
  ): Promise<ServiceResult<Listing<ItemOf<Name>>>>;
  optionalList<Name extends OptionalName & ListName>(
    endpoint: Name,
    options?: ListOptions<ItemOf<Name>>,
  ): Promise<OptionalResult<Listing<ItemOf<Name>>>>;
}

/** Limits of the read of a list. */
export interface ListBounds {
  readonly maxPages?: number;
  /** Milliseconds for all pages; the deadline of one call by default. */
  readonly deadlineMs?: number;
}

interface ListOptions<Item> extends ListBounds {
  readonly id?: string;
  readonly filter?: Readonly<Record<string, string>>;
  /** Called with each page; true ends the reading. If the service has more pages, the listing is then not complete. */
  readonly isEnough?: (page: readonly Item[]) => boolean;
}

const monotonicSystemClock = () => performance.now();

/** Number of items to ask for per page. */
export const PAGE_SIZE = 100;
// Enough for ten thousand packages or transactions.
const MAX_PAGES = 100;
// With less than this share of its deadline left, a send could time out, and "certainly not bought" would become
// "unknown". So it is not sent.
const SEND_NEEDS_SHARE = 0.25;

/** What the calls of one client share. */
interface Shared extends ServiceClientOptions {
  /** Calls that the service has refused without a token: the next ones carry it, and cause no failure. */
  readonly tokenNeeded: Set<EndpointName>;
}

/** Creates the functions with which the methods of the client make their calls. */
export function createCalls(settings: ServiceClientOptions): Calls {
  const options: Shared = { ...settings, tokenNeeded: new Set() };
  const unavailable = (endpoint: OptionalName): Unsupported | ServiceFailure | undefined => {
    const { capability, sandboxOnly }: EndpointContract = ENDPOINTS[endpoint];
    if (capability !== undefined && !options.capabilities[capability]) {
      return { ok: false, kind: 'unsupported', capability };
    }
    return sandboxOnly === true && options.mode !== 'sandbox' ? SANDBOX_ONLY : undefined;
  };
  const one = async <Name extends EndpointName>(
    endpoint: Name,
    request: Request,
    match?: MatchOf<Name>,
  ): Promise<ServiceResult<AnswerOf<Name>>> => {
    return await onePage(options, endpoint, request, options.deadlineMs, match);
  };
  return {
    one,
    optional: async (endpoint, request, match) => unavailable(endpoint) ?? (await one(endpoint, request, match)),
    list: async (endpoint, list) => await allPages(options, endpoint, list),
    optionalList: async (endpoint, list) => unavailable(endpoint) ?? (await allPages(options, endpoint, list)),
  };
}

/**
 * A definite failure for a request that this client refuses to send.
 *
 * @param why a clause; the detail becomes "{why}, so nothing was sent."
 */
export function refusedBeforeSending(reason: string): ServiceFailure {
  return { ok: false, kind: 'failure', failure: 'invalid_request', detail: `${reason}, so nothing was sent.` };
}

const SANDBOX_ONLY = refusedBeforeSending('This call exists in the sandbox only, and this is production');

const TOO_LATE: ServiceFailure = {
  ok: false,
  kind: 'failure',
  failure: 'not_sent',
  detail: 'Getting an access token took too much of the deadline, so nothing was sent.',
};

const LEASE_TOO_SHORT: ServiceFailure = {
  ok: false,
  kind: 'failure',
  failure: 'not_sent',
  detail: 'This process was suspended so long that another process may hold the lease by now, so nothing was sent.',
};

async function onePage<Name extends EndpointName>(
  options: Shared,
  endpoint: Name,
  request: Request,
  deadlineMs: number,
  match?: MatchOf<Name>,
): Promise<ServiceResult<AnswerOf<Name>>> {
  const { call, tokenNeeded } = options;
  if (ENDPOINTS[endpoint].authorized || tokenNeeded.has(endpoint)) {
    return await authorized(options, endpoint, request, deadlineMs, match);
  }
  const { monotonicNow: now = monotonicSystemClock } = options;
  const deadlineAt = now() + deadlineMs;
  const open = await call(endpoint, { ...request, deadlineMs }, match);
  if (open.ok || open.failure !== 'unauthorized') return open;
  const answer = await authorized(options, endpoint, request, deadlineAt - now(), match);
  if (answer.ok) tokenNeeded.add(endpoint);
  return answer;
}

/**
 * Makes one call with a token. After a 401 it renews the shared token and sends the same bytes once more, within the
 * same deadline.
 */
async function authorized<Name extends EndpointName>(
  { call, session, monotonicNow: now = monotonicSystemClock }: ServiceClientOptions,
  endpoint: Name,
  request: Request,
  deadlineMs: number,
  match?: MatchOf<Name>,
): Promise<ServiceResult<AnswerOf<Name>>> {
  const deadlineAt = now() + deadlineMs;
  const left = () => deadlineAt - now();
  const send = async (accessToken: string): Promise<ServiceResult<AnswerOf<Name>>> => {
    const budgetMs = Math.floor(left());
    if (budgetMs < deadlineMs * SEND_NEEDS_SHARE) return TOO_LATE;
    // The request must end before the lease does, however long this process was suspended until here.
    if (request.leaseLeftMs !== undefined && request.leaseLeftMs() <= budgetMs) return LEASE_TOO_SHORT;
    const headers = { ...request.headers, authorization: `Bearer ${accessToken}` };
    return await call(endpoint, { ...request, headers, deadlineMs: budgetMs }, match);
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

async function allPages<Name extends ListName>(
  options: Shared,
  endpoint: Name,
  list: ListOptions<ItemOf<Name>> = {},
): Promise<ServiceResult<Listing<ItemOf<Name>>>> {
  const { id, filter, maxPages = MAX_PAGES, deadlineMs: waitLimit = options.deadlineMs, isEnough = () => false } = list;
  const { monotonicNow: now = monotonicSystemClock } = options;
  const { path, query: known = [], isPriceList }: EndpointContract = ENDPOINTS[endpoint];
  const deadlineAt = now() + waitLimit;
  const common = { ...filter, ...(known.includes('limit') ? { limit: String(PAGE_SIZE) } : {}) };
  const read = new PagesRead<ItemOf<Name>>(path.replace('{id}', id ?? ''), filter ?? {}, common);
  let query: Query = common;
  for (let page = 1; ; page += 1) {
    const left = deadlineAt - now();
    if (left <= 0) {
      const detail = `The list has more than the ${counted(page - 1, 'page')} read in time.`;
      return { ok: false, kind: 'failure', failure: 'timeout', detail };
    }
    const request = { ...(id === undefined ? {} : { id }), query };
    const result = await onePage(options, endpoint, request, Math.min(left, options.deadlineMs));
    if (!result.ok) return result;
    // A cast: the compiler cannot follow the name through the conditional type.
    const received = result.value as ListPage<ItemOf<Name>>;
    const next = read.take(received, query);
    if (next === undefined || page === maxPages || isEnough(received.items)) {
      const { status } = result;
      return isPriceList === true && read.isAmbiguous ? AMBIGUOUS_PRICES : { ok: true, value: read.listing(), status };
    }
    query = next;
  }
}

const AMBIGUOUS_PRICES: ServiceFailure = {
  ok: false,
  kind: 'failure',
  failure: 'contract_drift',
  detail:
    'The service answered 200, but in its data[].price_for_reseller every price is a whole number, which may be a ' +
    'number of cents. Set `amounts` in upstream/contract/variants.ts.',
  status: 200,
};
