/**
 * What the sweeper does with one piece of unfinished work. A workflow that does not run is started; one that runs and
 * whose row or inbox shows that it should have gone on is woken: it reads its row anew. PostgreSQL, set back, can make
 * such a difference, and nothing else would end it.
 */
import type { SweepPolicy } from '#domain/policy/sweep-policy.ts';
import type { AttemptState } from '#domain/relay/observation.ts';
import type { WorkStatus } from '#domain/work/lifecycle.ts';

/** Unfinished work as PostgreSQL and Temporal have it. Times are in epoch milliseconds. */
export interface SweptWork {
  readonly status: WorkStatus;
  readonly createdAt: number;
  /** When its status or what stands in its way last changed. */
  readonly updatedAt: number;
  /** When time brings its next step, if it does. */
  readonly nextStepAt?: number;
  /** When the sweeper last asked for its start or a wake. */
  readonly sweptAt?: number;
  /** Of the newest attempt; undefined before one is opened. */
  readonly attemptState?: AttemptState;
  /** When the service was last heard of that attempt. */
  readonly lastHeardAt?: number;
  /** Since when the oldest report that its workflow was given waits for an answer. */
  readonly relayedSince?: number;
  readonly hasOpenCase: boolean;
  readonly isRunning: boolean;
}

/** Why a running workflow is woken. */
export type WakeReason = 'report_unanswered' | 'attempt_ended' | 'case_missing' | 'step_overdue' | 'unheard';

export type SweepDecision =
  | { readonly kind: 'leave' }
  | { readonly kind: 'start' }
  | { readonly kind: 'wake'; readonly reason: WakeReason };

type WakePolicy = Pick<
  SweepPolicy,
  'idleAfterMs' | 'overdueAfterMs' | 'unheardAfterMs' | 'wakeAgainShare' | 'wakeAgainMaxMs'
>;

/** Statuses in which the purchase itself is under way. */
const BUYING: ReadonlySet<WorkStatus> = new Set<WorkStatus>(['accepted', 'submitting', 'processing', 'held']);
/** Of these, the ones that last seconds unless a time is noted for the next step. */
const SHORT: ReadonlySet<WorkStatus> = new Set<WorkStatus>(['accepted', 'submitting', 'held']);

/** Decides what the sweeper does. @param now epoch milliseconds. */
export function sweepDecision(work: SweptWork, policy: WakePolicy, now: number): SweepDecision {
  const { sweptAt, isRunning } = work;
  if (!isRunning) {
    const isAskedFor = sweptAt !== undefined && now - sweptAt < policy.idleAfterMs;
    return { kind: isAskedFor ? 'leave' : 'start' };
  }
  if (sweptAt !== undefined && now - sweptAt < wakeAgainAfterMs(work, policy, now)) return { kind: 'leave' };
  const reason = wakeReason(work, policy, now);
  return reason === undefined ? { kind: 'leave' } : { kind: 'wake', reason };
}

/**
 * How long work is left alone after it was woken, in milliseconds: longer, the older it is. @param now epoch
 * milliseconds.
 */
export function wakeAgainAfterMs({ createdAt }: Pick<SweptWork, 'createdAt'>, policy: WakePolicy, now: number): number {
  const { overdueAfterMs, wakeAgainShare, wakeAgainMaxMs } = policy;
  return Math.min(wakeAgainMaxMs, Math.max(overdueAfterMs, (now - createdAt) * wakeAgainShare));
}

/**
 * In what a running workflow and its row disagree. @returns undefined when both may wait. @param now epoch
 * milliseconds.
 */
function wakeReason(work: SweptWork, policy: WakePolicy, now: number): WakeReason | undefined {
  const { status, updatedAt, nextStepAt, attemptState, lastHeardAt = 0, relayedSince, hasOpenCase } = work;
  const isOverdue = (since: number) => now - since >= policy.overdueAfterMs;
  if (relayedSince !== undefined && isOverdue(relayedSince)) return 'report_unanswered';
  // A change of the row is what a workflow at work makes.
  if (!isOverdue(updatedAt)) return undefined;
  if (status === 'needs_attention' && !hasOpenCase) return 'case_missing';
  if (nextStepAt !== undefined) return isOverdue(nextStepAt) ? 'step_overdue' : undefined;
  if (!BUYING.has(status)) return undefined;
  const hasEnded = attemptState === 'completed' || attemptState === 'failed';
  if (hasEnded && isOverdue(lastHeardAt)) return 'attempt_ended';
  if (SHORT.has(status)) return 'unheard';
  return now - Math.max(updatedAt, lastHeardAt) >= policy.unheardAfterMs ? 'unheard' : undefined;
}
