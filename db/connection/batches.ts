/** PostgreSQL takes 65,535 parameters in a statement. */
const ROWS_PER_STATEMENT = 1_000;

export function* inBatches<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let start = 0; start < items.length; start += ROWS_PER_STATEMENT)
    yield items.slice(start, start + ROWS_PER_STATEMENT);
}
