/** The position and size of a page. */
export interface Page {
  /** Sequence number of the last item of the previous page; undefined for the first page. */
  readonly cursor: number | undefined;
  readonly limit: number;
}

/** Makes a page of rows that were read with one row more than the page has. */
export function pageOfRows<Row extends { readonly sequence: number }>(
  rows: readonly Row[],
  limit: number,
): { items: readonly Row[]; nextCursor: number | null } {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items, nextCursor: rows.length > limit && last !== undefined ? last.sequence : null };
}
