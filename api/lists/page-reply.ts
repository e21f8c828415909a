import { type Reply, jsonReply } from '#api/http/reply.ts';

/**
 * Answers with a page of a list.
 *
 * @param found items of the page, and one more if there is a next page.
 * @param limit maximum number of items.
 * @param cursor returns the cursor after the last item of this page.
 * @param more more fields of the answer.
 */
export function pageReply<Item>(
  found: readonly Item[],
  limit: number,
  {
    json,
    cursor,
    more = {},
  }: { readonly json: (item: Item) => object; readonly cursor: (last: Item) => string; readonly more?: object },
): Reply {
  return jsonReply(200, {
    data: found.slice(0, limit).map(json),
    next_cursor: nextCursor(found, limit, cursor),
    ...more,
  });
}

/** The cursor of the next page; null on the last one. */
export function nextCursor<Item>(found: readonly Item[], limit: number, cursor: (last: Item) => string): string | null {
  const last = found.length > limit ? found[limit - 1] : undefined;
  return last === undefined ? null : cursor(last);
}
