import { type Reply, jsonReply } from '#api/http/reply.ts';

/**
 * Answers with a page of a list.
 *
 * @param found one more than the page holds, where there are more: that tells whether there is a next page.
 * @param limit how many the page holds at most.
 * @param cursor where the next page starts, after the last one of this.
 * @param more further fields of the answer.
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
