import { counted } from '#domain/text.ts';
import { isFormOf } from '#domain/work/identifiers.ts';
import type { ItemOf, ListName } from '#upstream/client/call.ts';
import type { Calls, OptionalResult, ResultOf } from '#upstream/client/calls.ts';
import { failed, type ServiceResult } from '#upstream/client/error-mapping.ts';
import { ENDPOINTS, type EndpointContract } from '#upstream/contract.ts';
import { continuationOf, hasNextLink, isRequested, lastPageOf } from '#upstream/contract/paging.ts';
import { type PriceForms, isAmbiguous, termsOf } from '#upstream/contract/variants.ts';
import type { ListPage } from '#upstream/reading/answer.ts';

export interface Listing<Item> {
  readonly items: readonly Item[];
  /** False when there may be more items, or one could not be read. Then a missing item proves nothing. */
  readonly complete: boolean;
  readonly hasGap?: boolean;
}

type Query = Readonly<Record<string, string>>;

export interface ListBounds {
  readonly maxPages?: number;
  readonly deadlineMs?: number;
}

interface ListOptions<Item> extends ListBounds {
  readonly id?: string;
  readonly filter?: Query;
  /** True ends the reading. If the service has more pages, the listing is then not complete. */
  readonly isEnough?: (page: readonly Item[]) => boolean;
}

export const PAGE_SIZE = 100;
// Enough for ten thousand packages or transactions.
const MAX_PAGES = 100;

export async function list<Name extends ListName>(
  calls: Calls,
  endpoint: Name,
  options?: ListOptions<ItemOf<Name>>,
): Promise<ResultOf<Name, Listing<ItemOf<Name>>>> {
  const result = calls.unavailable(endpoint) ?? (await allPages(calls, endpoint, options));
  // A cast: the compiler does not connect the name with its capability.
  return result as ResultOf<Name, Listing<ItemOf<Name>>>;
}

async function allPages<Name extends ListName>(
  calls: Calls,
  endpoint: Name,
  options: ListOptions<ItemOf<Name>> = {},
): Promise<ServiceResult<Listing<ItemOf<Name>>>> {
  const { deadlineMs } = calls.options;
  const { id, filter, maxPages = MAX_PAGES, deadlineMs: waitLimit = deadlineMs, isEnough = () => false } = options;
  const { path, query: known = [], isPriceList, record }: EndpointContract = ENDPOINTS[endpoint];
  const deadlineAt = calls.now() + waitLimit;
  const common = { ...filter, ...(known.includes('limit') ? { limit: String(PAGE_SIZE) } : {}) };
  const read = new PagesRead<ItemOf<Name>>(path.replace('{id}', id ?? ''), filter ?? {}, common);
  let query: Query = common;
  for (let page = 1; ; page += 1) {
    const left = deadlineAt - calls.now();
    if (left <= 0) {
      return failed('timeout', `The list has more than the ${counted(page - 1, 'page')} read in time.`);
    }
    const request = { ...(id === undefined ? {} : { id }), query };
    const result = await calls.page(endpoint, request, Math.min(left, deadlineMs));
    if (!result.ok) return result;
    // A cast: the compiler cannot follow the name through the conditional type.
    const received = result.value as ListPage<ItemOf<Name>>;
    const next = read.take(received, query);
    if (next === undefined || page === maxPages || isEnough(received.items)) {
      const isUnclear = isPriceList === true && isAmbiguous(read.prices, termsOf(record).amounts);
      return isUnclear ? AMBIGUOUS_PRICES : { ok: true, value: read.listing(), status: result.status };
    }
    query = next;
  }
}

const AMBIGUOUS_PRICES = failed(
  'contract_drift',
  'The service answered 200, but in its data[].price_for_reseller every price is a whole number, which may be a ' +
    'number of cents. Set `amounts` in upstream/contract/variants.ts.',
  { status: 200 },
);

class PagesRead<Item extends { readonly id: string | number }> {
  readonly #path: string;
  readonly #common: Query;
  readonly #filter: Query;
  readonly #items: Item[] = [];
  readonly #ids = new Set<string>();
  readonly #asked = new Set<string>();
  #dropped = 0;
  #isLinked = false;
  #lastPage: string | undefined;
  #uncertain = 0;
  #hasEnded = false;
  #prices = { whole: 0, decimal: 0 };

  constructor(path: string, filter: Query, common: Query) {
    this.#path = path;
    this.#filter = filter;
    this.#common = common;
  }

  take(page: ListPage<Item>, query: Query): Query | undefined {
    const { items, dropped, layers, linkHeader, prices, uncertain } = page;
    const before = this.#ids.size;
    for (const { id } of items) this.#ids.add(String(id));
    this.#items.push(...items);
    this.#dropped += dropped;
    this.#uncertain += uncertain;
    this.#prices = { whole: this.#prices.whole + prices.whole, decimal: this.#prices.decimal + prices.decimal };
    // A page without new items shows that the service ignores the paging parameters.
    if (items.length > 0 && this.#ids.size === before) return undefined;
    const count = items.length + dropped;
    const readSoFar = this.#ids.size + this.#dropped;
    const isLinked = this.#isLinked && (this.#lastPage === undefined || isRequested(this.#lastPage, query));
    const rest = continuationOf({ layers, linkHeader, isLinked, count, readSoFar, query, path: this.#path });
    this.#isLinked ||= linkHeader !== undefined && hasNextLink(linkHeader);
    if (linkHeader !== undefined) this.#lastPage = lastPageOf(linkHeader) ?? this.#lastPage;
    this.#asked.add(JSON.stringify(query));
    this.#hasEnded = rest.kind === 'end';
    if (rest.kind !== 'next') return undefined;
    // A link that changes the filter leads to another list.
    if (Object.entries(this.#filter).some(([name, value]) => (rest.query[name] ?? value) !== value)) return undefined;
    const next = { ...this.#common, ...rest.query };
    // A page that links to a page already read would make a loop.
    return this.#asked.has(JSON.stringify(next)) ? undefined : next;
  }

  listing(): Listing<Item> {
    const hasGap = this.#dropped + this.#uncertain > 0;
    return { items: this.#items, complete: this.#hasEnded && !hasGap, hasGap };
  }

  get prices(): PriceForms {
    return this.#prices;
  }
}

type OptionalList = 'listOrders' | 'listTopups' | 'listRefunds' | 'listVpnSubscriptions';

export interface Recent {
  /** Epoch milliseconds. The first page with an older item is the last one read. */
  readonly since: number;
  readonly maxPages: number;
}

/** @param timeOf the creation time of an item, or a later time of it. */
export async function listRecent<Name extends OptionalList>(
  calls: Calls,
  endpoint: Name,
  { since, maxPages }: Recent,
  timeOf: (item: ItemOf<Name>) => string | null | undefined,
): Promise<ResultOf<Name, Listing<ItemOf<Name>>>> {
  const isOlder = (item: ItemOf<Name>) => Date.parse(timeOf(item) ?? '') < since;
  return await list(calls, endpoint, { maxPages, isEnough: (page) => page.some(isOlder) });
}

// More pages mean that the service ignores the filter: a reference has one order, an eSIM few top-ups.
const MAX_PAGES_OF_A_FILTER = 5;

/** A possible match in another form, or without the field, is not found, but makes the listing incomplete. */
export async function findBy<Name extends OptionalList>(
  calls: Calls,
  endpoint: Name,
  field: keyof ItemOf<Name> & string,
  value: string,
): Promise<OptionalResult<Listing<ItemOf<Name>>>> {
  const result: OptionalResult<Listing<ItemOf<Name>>> = await list(calls, endpoint, {
    filter: { [field]: value },
    maxPages: MAX_PAGES_OF_A_FILTER,
  });
  if (!result.ok) return result;
  const all = result.value.items;
  const items = all.filter((item) => item[field] === value);
  const mayBeMeant = all.some((item) => mayBeOtherForm(value, item[field]));
  const complete = result.value.complete && !mayBeMeant && !(items.length === 0 && isOneEsim(field, all));
  return { ...result, value: { items, complete } };
}

function mayBeOtherForm(value: string, theirs: unknown): boolean {
  if (typeof theirs !== 'string') return true;
  // The reference of an earlier attempt is the beginning of ours.
  return theirs !== value && !value.startsWith(`${theirs}~`) && isFormOf(value, theirs);
}

/** A list may be filtered by the eSIM that was asked for, and name it by another id of its own. */
function isOneEsim<Item>(field: keyof Item & string, items: readonly Item[]): boolean {
  return field === 'esim_id' && new Set(items.map((item) => item[field])).size === 1;
}
