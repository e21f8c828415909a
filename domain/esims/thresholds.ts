/**
 * What of an eSIM or subscription runs out: which threshold it has passed, and how an announcement of it is told from
 * others.
 */

/** What is known of the data of an eSIM. */
export interface DataUsage {
  readonly usedMb: number;
  /** Null: unlimited; undefined: not said. */
  readonly totalMb: number | null | undefined;
}

/** Of a status that nothing can run out in any more. */
const ENDED: ReadonlySet<string> = new Set(['cancelled', 'expired']);

/** True for what is over at the service. A consumed eSIM is not: a top-up makes it active again. */
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
 * The share of the data that is left, from 0 to 1. @returns undefined where there is no total: unlimited data never
 * runs out.
 */
export function shareLeft({ usedMb, totalMb }: DataUsage): number | undefined {
  if (totalMb == null || totalMb <= 0) return undefined;
  return Math.min(1, Math.max(0, (totalMb - usedMb) / totalMb));
}

/**
 * The tightest threshold that the data has reached: one announcement is enough where several are passed at once.
 *
 * @param shares of the data, from 0 to 1, in any order.
 */
export function dataThreshold(reading: DataUsage, shares: readonly number[]): number | undefined {
  const left = shareLeft(reading);
  if (left === undefined) return undefined;
  const reached = shares.filter((share) => left <= share);
  return reached.length === 0 ? undefined : Math.min(...reached);
}

/** The tightest threshold that an end has come within. @returns undefined also when it is over. */
export function timeThreshold(endsAt: number, now: number, thresholdsMs: readonly number[]): number | undefined {
  const left = endsAt - now;
  if (left <= 0) return undefined;
  const reached = thresholdsMs.filter((threshold) => left <= threshold);
  return reached.length === 0 ? undefined : Math.min(...reached);
}

/** Announced once for each threshold, and again after each top-up. */
export function dataKey(share: number, completedTopups: number): string {
  return `data_low/${share}/${completedTopups}`;
}

/** The same for the time of an eSIM. */
export function expiryKey(thresholdMs: number, completedTopups: number): string {
  return `expiring/${thresholdMs}/${completedTopups}`;
}

/** For a subscription, once for each threshold and end: a renewal has another. @param endsAt epoch milliseconds. */
export function renewalKey(thresholdMs: number, endsAt: number): string {
  return `expiring/${thresholdMs}/${endsAt}`;
}
