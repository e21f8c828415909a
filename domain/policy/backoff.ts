/** The `n`-th wait (from 1) of a doubling series with a ceiling, in milliseconds. */
export function backoffMs(first: number, ceiling: number, n: number): number {
  return Math.min(ceiling, first * 2 ** Math.min(Math.max(n, 1) - 1, 30));
}
