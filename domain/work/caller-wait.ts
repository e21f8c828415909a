/** When a caller who waits for work is answered. */
import { isFinal, type WorkStatus } from '#domain/work/lifecycle.ts';

/**
 * What was asked for is there, or will never be: a subscription that is active counts, since it lives on for months.
 */
export function isFinished(status: WorkStatus): boolean {
  return status === 'active' || isFinal(status);
}

/**
 * True when waiting longer is of no use. What is held goes on by itself, perhaps in a second, so it is waited for; what
 * waits for a person is not.
 */
export function isWaitOver(status: WorkStatus): boolean {
  return isFinished(status) || status === 'needs_attention';
}

/** What time brings nothing for is worth a look now and then only. */
const SELDOM_SECONDS = 60;
const SOON_SECONDS = 2;

/**
 * After how many seconds it is worth asking again for work that is not finished.
 *
 * @param nextStepAt when time brings the next step, if it does. @param now both in epoch milliseconds.
 */
export function retryAfterSeconds(status: WorkStatus, nextStepAt: number | null, now: number): number {
  if (status === 'needs_attention') return SELDOM_SECONDS;
  if (status !== 'held' || nextStepAt === null) return SOON_SECONDS;
  return Math.min(SELDOM_SECONDS, Math.max(SOON_SECONDS, Math.ceil((nextStepAt - now) / 1_000)));
}
