export interface DataUsage {
  readonly usedMb: number;
  /** Null: unlimited. Undefined: the service did not report it. */
  readonly totalMb: number | null | undefined;
}

/** A consumed eSIM has not ended: a top-up makes it active again. */
export function isEsimOver(status: string): boolean {
  return status === 'cancelled' || status === 'expired';
}

/** An eSIM that was never active uses no data. */
export function isEsimInUse(esim: Pick<EsimState, 'status' | 'activatedAt'>): boolean {
  return !isEsimOver(esim.status) && wasActivated(esim);
}

function wasActivated({ status, activatedAt }: Pick<EsimState, 'status' | 'activatedAt'>): boolean {
  return activatedAt !== null || status === 'active' || status === 'consumed';
}

/** @returns 0 to 1; undefined when there is no total: unlimited data never runs out. */
export function shareLeft({ usedMb, totalMb }: DataUsage): number | undefined {
  if (totalMb == null || totalMb <= 0) return undefined;
  return Math.min(1, Math.max(0, (totalMb - usedMb) / totalMb));
}

/** The lowest threshold that is reached: one announcement is enough. @param shares from 0 to 1, in any order. */
export function dataThreshold(reading: DataUsage, shares: readonly number[]): number | undefined {
  const left = shareLeft(reading);
  return left === undefined ? undefined : lowestReached(left, shares);
}

/** @param endsAt epoch milliseconds, as is `now`. @returns undefined when no threshold is reached, or after the end. */
export function timeThreshold(endsAt: number, now: number, thresholdsMs: readonly number[]): number | undefined {
  const left = endsAt - now;
  return left <= 0 ? undefined : lowestReached(left, thresholdsMs);
}

function lowestReached(left: number, thresholds: readonly number[]): number | undefined {
  const reached = thresholds.filter((threshold) => left <= threshold);
  return reached.length === 0 ? undefined : Math.min(...reached);
}

/** One key for each threshold, and again after each top-up. */
export function dataKey(share: number, completedTopups: number): string {
  return `data_low/${share}/${completedTopups}`;
}

export function expiryKey(thresholdMs: number, completedTopups: number): string {
  return `expiring/${thresholdMs}/${completedTopups}`;
}

export function renewalKey(thresholdMs: number, endsAt: number): string {
  return `expiring/${thresholdMs}/${endsAt}`;
}

export const MILESTONES = ['installed', 'activated', 'used_up', 'expired'] as const;

export type Milestone = (typeof MILESTONES)[number];

/** Null: the service does not report it. */
export interface EsimState {
  readonly status: string;
  readonly installedAt: Date | null;
  readonly activatedAt: Date | null;
  readonly expiresAt: Date | null;
}

export interface EsimReading extends EsimState {
  /** Undefined when its data was not read. */
  readonly usage: DataUsage | undefined;
  readonly readAt: Date;
}

const ON_A_PHONE: ReadonlySet<string> = new Set(['installed', 'active', 'consumed']);

export function milestonesOf(reading: EsimReading): readonly Milestone[] {
  return MILESTONES.filter((milestone) => PROOFS[milestone](reading));
}

const PROOFS: Readonly<Record<Milestone, (reading: EsimReading) => boolean>> = {
  installed: ({ status, installedAt, activatedAt }) =>
    installedAt !== null || activatedAt !== null || ON_A_PHONE.has(status),
  activated: wasActivated,
  used_up: ({ status, usage }) =>
    !isEsimOver(status) && (status === 'consumed' || (usage !== undefined && shareLeft(usage) === 0)),
  // Some services report only the end. A cancelled eSIM did not expire.
  expired: ({ status, expiresAt, readAt }) =>
    status === 'expired' || (status !== 'cancelled' && expiresAt !== null && expiresAt <= readAt),
};

/** Used up data comes back with a top-up, and a later end may apply. */
export function isUndoneByTopup(milestone: Milestone): boolean {
  return milestone === 'used_up' || milestone === 'expired';
}

export function milestoneKey(milestone: Milestone, completedTopups: number): string {
  return milestone === 'used_up' ? `used_up/${completedTopups}` : milestone;
}
