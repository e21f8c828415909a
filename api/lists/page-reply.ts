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
  const shown = found.slice(0, limit);
  const last = found.length > limit ? shown.at(-1) : undefined;
  return jsonReply(200, { data: shown.map(json), next_cursor: last === undefined ? null : cursor(last), ...more });
}
