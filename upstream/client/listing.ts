/** Collects the pages of a list and decides whether the list was read completely. */
import { continuationOf, hasNextLink, isRequested, lastPageOf } from '#upstream/contract/paging.ts';
import { isAmbiguous } from '#upstream/contract/variants.ts';
import type { ListPage } from '#upstream/reading/body.ts';

/** The items of all pages of a list. */
export interface Listing<Item> {
  readonly items: readonly Item[];
  /** False when there may be more items, or an item could not be read. Then a missing item proves nothing. */
  readonly complete: boolean;
  /** An item could not be read. */
  readonly hasGap?: boolean;
}

export type Query = Readonly<Record<string, string>>;

/** The state of a list while its pages are read. */
export class PagesRead<Item extends { readonly id: string | number }> {
  /** Path of the call below `{base_url}`. */
  readonly #path: string;
  /** The query of every page: the filter and the page size. */
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

  /** @returns the query of the next page; undefined when the list has ended or its continuation is unknown. */
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

  /** True when no price of the list shows whether amounts are decimals or cents. */
  get isAmbiguous(): boolean {
    return isAmbiguous(this.#prices);
  }
}
