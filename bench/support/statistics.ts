import type { Spread } from '#bench/results.ts';

/**
 * The value that `share` of all values do not exceed (nearest rank). @param share 0 to 1. @throws RangeError when
 * empty.
 */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  const found = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
  if (found === undefined) throw new RangeError('no values');
  return found;
}

/** @throws RangeError when empty. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.ceil(sorted.length / 2) - 1];
  if (upper === undefined || lower === undefined) throw new RangeError('no values');
  return (lower + upper) / 2;
}

export function spreadOf(values: readonly number[]): Spread {
  if (values.length === 0) throw new RangeError('no values');
  return { min: Math.min(...values), max: Math.max(...values) };
}

/** To three significant digits: more would claim a precision that a shared machine does not have. */
export function rounded(value: number): number {
  return Number(value.toPrecision(3));
}
