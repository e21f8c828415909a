/** When a request that waits for work is answered. */
import { isFinal, type WorkStatus } from '#domain/work/lifecycle.ts';

/** True when the work has its result or has ended. An active subscription counts, because it runs for months. */
export function isFinished(status: WorkStatus): boolean {
  return status === 'active' || isFinal(status);
}

/**
 * True when a longer wait is of no use. Held work may continue within a second, so the request waits for it. Work that
 * needs attention waits for a person, so the request is answered.
 */
export function isWaitOver(status: WorkStatus): boolean {
  return isFinished(status) || status === 'needs_attention';
}

/** For work that waits for a person: it rarely changes. */
const SELDOM_SECONDS = 60;
const SOON_SECONDS = 2;

/**
 * Seconds after which a caller should request unfinished work again.
 *
 * @param nextStepAt time of the next step, in epoch milliseconds; null when it has none.
 * @param now epoch milliseconds.
 */
export function retryAfterSeconds(status: WorkStatus, nextStepAt: number | null, now: number): number {
  if (status === 'needs_attention') return SELDOM_SECONDS;
  if (status !== 'held' || nextStepAt === null) return SOON_SECONDS;
  return Math.min(SELDOM_SECONDS, Math.max(SOON_SECONDS, Math.ceil((nextStepAt - now) / 1_000)));
}
