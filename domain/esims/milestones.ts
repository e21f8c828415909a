/** Milestones in the life of an eSIM, as its readings show them. */
import { isEsimOver, shareLeft, type DataUsage } from '#domain/esims/thresholds.ts';

/** A phone has installed the eSIM; it is in use; its data is used up; it has expired. */
export const MILESTONES = ['installed', 'activated', 'used_up', 'expired'] as const;

export type Milestone = (typeof MILESTONES)[number];

/** A reading of an eSIM. Times are epoch milliseconds; null: the service does not report it. */
export interface EsimReading {
  readonly status: string;
  readonly installedAt: number | null;
  readonly activatedAt: number | null;
  readonly expiresAt: number | null;
  /** Undefined when its data was not read. */
  readonly usage: DataUsage | undefined;
  readonly readAt: number;
}

/** Statuses that only an eSIM on a phone has, and those that only a used one has. */
const ON_A_PHONE: ReadonlySet<string> = new Set(['installed', 'active', 'consumed']);
const USED: ReadonlySet<string> = new Set(['active', 'consumed']);

/** The milestones that a reading proves, in the order of a life. */
export function milestonesOf(reading: EsimReading): readonly Milestone[] {
  return MILESTONES.filter((milestone) => PROOFS[milestone](reading));
}

const PROOFS: Readonly<Record<Milestone, (reading: EsimReading) => boolean>> = {
  installed: ({ status, installedAt, activatedAt }) =>
    installedAt !== null || activatedAt !== null || ON_A_PHONE.has(status),
  activated: ({ status, activatedAt }) => activatedAt !== null || USED.has(status),
  used_up: ({ status, usage }) =>
    !isEsimOver(status) && (status === 'consumed' || (usage !== undefined && shareLeft(usage) === 0)),
  // Some services report only the end. A cancelled eSIM did not expire.
  expired: ({ status, expiresAt, readAt }) =>
    status === 'expired' || (status !== 'cancelled' && expiresAt !== null && expiresAt <= readAt),
};

/** True when a top-up undoes a milestone: data that is used up comes back, and a later end may apply. */
export function isUndoneByTopup(milestone: Milestone): boolean {
  return milestone === 'used_up' || milestone === 'expired';
}

/** Key of the announcement of a milestone: one for each eSIM; used up data again after each top-up. */
export function milestoneKey(milestone: Milestone, completedTopups: number): string {
  return milestone === 'used_up' ? `used_up/${completedTopups}` : milestone;
}
