/** Collects the pages of a list, and judges whether it was read to its end. */
import { continuationOf, hasNextLink, isAskedFor, lastPageOf } from '#upstream/contract/paging.ts';
import { isAmbiguous } from '#upstream/contract/variants.ts';
import type { ListPage } from '#upstream/reading/body.ts';

/** Items of a list with all its pages. */
export interface Listing<Item> {
  readonly items: readonly Item[];
  /** False when there may be more than these, or an item could not be read; then absence proves nothing. */
  readonly complete: boolean;
}

export type Query = Readonly<Record<string, string>>;

/** A list while its pages are read. */
export class PagesRead<Item extends { readonly id: string | number }> {
  /** Path of the call below `{base_url}`. */
  readonly #path: string;
  /** What every page is asked for with: the filter, and how many items a page may have. */
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

  /** @returns the query of the next page; undefined where the list has ended, or it is not known how it goes on. */
  take(page: ListPage<Item>, query: Query): Query | undefined {
    const { items, dropped, layers, linkHeader, prices, uncertain } = page;
    const before = this.#ids.size;
    for (const { id } of items) this.#ids.add(String(id));
    this.#items.push(...items);
    this.#dropped += dropped;
    this.#uncertain += uncertain;
    this.#prices = { whole: this.#prices.whole + prices.whole, decimal: this.#prices.decimal + prices.decimal };
    // A page that repeats what was read shows that the service does not heed what it was asked for.
    if (items.length > 0 && this.#ids.size === before) return undefined;
    const count = items.length + dropped;
    const readSoFar = this.#ids.size + this.#dropped;
    const isLinked = this.#isLinked && (this.#lastPage === undefined || isAskedFor(this.#lastPage, query));
    const rest = continuationOf({ layers, linkHeader, isLinked, count, readSoFar, query, path: this.#path });
    this.#isLinked ||= linkHeader !== undefined && hasNextLink(linkHeader);
    if (linkHeader !== undefined) this.#lastPage = lastPageOf(linkHeader) ?? this.#lastPage;
    this.#asked.add(JSON.stringify(query));
    this.#hasEnded = rest.kind === 'end';
    if (rest.kind !== 'next') return undefined;
    // A link that changes what is asked for leads to another list.
    if (Object.entries(this.#filter).some(([name, value]) => (rest.query[name] ?? value) !== value)) return undefined;
    const next = { ...this.#common, ...rest.query };
    // A page that leads back to one that was read would never end.
    return this.#asked.has(JSON.stringify(next)) ? undefined : next;
  }

  listing(): Listing<Item> {
    return { items: this.#items, complete: this.#hasEnded && this.#dropped + this.#uncertain === 0 };
  }

  /** True when no price of the list tells whether amounts are decimals or cents. */
  get isAmbiguous(): boolean {
    return isAmbiguous(this.#prices);
  }
}
