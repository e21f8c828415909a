/** Thresholds of data and time of an eSIM or subscription, and the keys that make each announcement unique. */

/** Data usage of an eSIM, as last read. */
export interface DataUsage {
  readonly usedMb: number;
  /** Null: unlimited. Undefined: the service did not report it. */
  readonly totalMb: number | null | undefined;
}

/** Statuses in which an eSIM has ended at the service. */
const ENDED: ReadonlySet<string> = new Set(['cancelled', 'expired']);

/** True when an eSIM has ended. A consumed eSIM has not: a top-up makes it active again. */
export function isEsimOver(status: string): boolean {
  return ENDED.has(status);
}

/** True when data can be used: an eSIM that was never active uses none. */
export function isEsimInUse({
  status,
  activatedAt,
}: {
  readonly status: string;
  readonly activatedAt: Date | null;
}): boolean {
  return !isEsimOver(status) && (activatedAt !== null || status === 'active' || status === 'consumed');
}

/**
 * The share of the data that is left, from 0 to 1.
 * @returns undefined when there is no total: unlimited data never runs out.
 */
export function shareLeft({ usedMb, totalMb }: DataUsage): number | undefined {
  if (totalMb == null || totalMb <= 0) return undefined;
  return Math.min(1, Math.max(0, (totalMb - usedMb) / totalMb));
}

/**
 * The lowest threshold that the remaining data has reached. When it passes several at once, one announcement is enough.
 * @param shares thresholds from 0 to 1, in any order.
 * @returns undefined when no threshold is reached.
 */
export function dataThreshold(reading: DataUsage, shares: readonly number[]): number | undefined {
  const left = shareLeft(reading);
  if (left === undefined) return undefined;
  const reached = shares.filter((share) => left <= share);
  return reached.length === 0 ? undefined : Math.min(...reached);
}

/**
 * The shortest threshold that the remaining time is within.
 * @param endsAt epoch milliseconds, as is `now`.
 * @returns undefined when no threshold is reached or the time is over.
 */
export function timeThreshold(endsAt: number, now: number, thresholdsMs: readonly number[]): number | undefined {
  const left = endsAt - now;
  if (left <= 0) return undefined;
  const reached = thresholdsMs.filter((threshold) => left <= threshold);
  return reached.length === 0 ? undefined : Math.min(...reached);
}

/** Key of a data announcement: one for each threshold, and again after each top-up. */
export function dataKey(share: number, completedTopups: number): string {
  return `data_low/${share}/${completedTopups}`;
}

/** Key of an expiry announcement of an eSIM: one for each threshold, and again after each top-up. */
export function expiryKey(thresholdMs: number, completedTopups: number): string {
  return `expiring/${thresholdMs}/${completedTopups}`;
}

/**
 * Key of an expiry announcement of a subscription: one for each threshold and end. A renewal has another end.
 * @param endsAt epoch milliseconds.
 */
export function renewalKey(thresholdMs: number, endsAt: number): string {
  return `expiring/${thresholdMs}/${endsAt}`;
}
