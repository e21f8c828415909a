/** Part of a list. */
export interface Page {
  /** Sequence number of the last item of the page before; absent for the first page. */
  readonly cursor: number | undefined;
  readonly limit: number;
}

/** Cuts a list that was read with one item more than the page holds. */
export function pageOfRows<Row extends { readonly sequence: number }>(
  rows: readonly Row[],
  limit: number,
): { items: readonly Row[]; nextCursor: number | null } {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items, nextCursor: rows.length > limit && last !== undefined ? last.sequence : null };
}
