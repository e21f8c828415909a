/** A page of a list. */
export interface Page<Item> {
  readonly data: readonly Item[];
  readonly next_cursor: string | null;
  /** Only in the feed of events, whose cursor never ends: true when more events are available. */
  readonly has_more?: boolean;
}

/**
 * `for await` reads all items, page by page. To follow events after that, keep the `next_cursor` of the last page.
 * @typeParam PageOf - some pages contain more than their items, such as `read_at`.
 */
export class Paged<Item, PageOf extends Page<Item> = Page<Item>> implements AsyncIterable<Item> {
  readonly #read: (cursor: { cursor?: string }) => Promise<PageOf>;

  constructor(read: (cursor: { cursor?: string }) => Promise<PageOf>) {
    this.#read = read;
  }

  /** The first page; `next_cursor` goes into the query of the next call. */
  async page(): Promise<PageOf> {
    return this.#read({});
  }

  /** All pages. */
  async *pages(): AsyncGenerator<PageOf, void> {
    for (let cursor: string | null | undefined = undefined; cursor !== null;) {
      const page: PageOf = await this.#read(cursor === undefined ? {} : { cursor });
      yield page;
      cursor = page.has_more === false ? null : page.next_cursor;
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void> {
    for await (const { data } of this.pages()) yield* data;
  }

  /** The first items, read page by page. */
  async take(count: number): Promise<Item[]> {
    const items: Item[] = [];
    if (count < 1) return items;
    for await (const item of this) {
      items.push(item);
      if (items.length >= count) break;
    }
    return items;
  }
}
