/**
 * What the sweeper does with one piece of unfinished work. It starts a workflow that does not run. It wakes a running
 * workflow whose row or inbox shows that it should have continued; the workflow then reads its row again. Such a
 * difference arises when PostgreSQL loses commits, and nothing else would end it.
 */
import type { SweepPolicy } from '#domain/policy/upkeep-policy.ts';
import type { AttemptState } from '#domain/relay/observation.ts';
import type { WorkStatus } from '#domain/work/lifecycle.ts';

/** Unfinished work with its state in PostgreSQL and Temporal. Times are epoch milliseconds. */
export interface SweptWork {
  readonly status: WorkStatus;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** True when PostgreSQL has started since that change and the last wake, so that later changes may be lost. */
  readonly mayBeSetBack?: boolean;
  readonly nextStepAt?: number;
  readonly sweptAt?: number;
  /** State of the newest attempt; undefined before one is opened. */
  readonly attemptState?: AttemptState;
  readonly lastReportAt?: number;
  /** Since when the oldest report that was relayed to its workflow is not handled. */
  readonly relayedSince?: number;
  readonly hasOpenCase: boolean;
  readonly isRunning: boolean;
}

export type WakeReason = 'report_unanswered' | 'attempt_ended' | 'case_missing' | 'step_overdue' | 'no_report';

export type SweepDecision =
  | { readonly kind: 'leave' }
  | { readonly kind: 'start' }
  | { readonly kind: 'wake'; readonly reason: WakeReason };

type WakePolicy = Pick<
  SweepPolicy,
  'idleAfterMs' | 'overdueAfterMs' | 'noReportAfterMs' | 'wakeAgainShare' | 'wakeAgainMaxMs'
>;

/** Statuses in which the purchase is under way. */
const BUYING: ReadonlySet<WorkStatus> = new Set<WorkStatus>(['accepted', 'submitting', 'processing', 'held']);
/** Of these, the statuses that last seconds unless a next step is planned. */
const SHORT: ReadonlySet<WorkStatus> = new Set<WorkStatus>(['accepted', 'submitting', 'held']);

/** Decides what the sweeper does. @param now epoch milliseconds. */
export function sweepDecision(work: SweptWork, policy: WakePolicy, now: number): SweepDecision {
  const { sweptAt, isRunning } = work;
  if (!isRunning) {
    const isRequested = sweptAt !== undefined && now - sweptAt < policy.idleAfterMs;
    return { kind: isRequested ? 'leave' : 'start' };
  }
  if (work.mayBeSetBack !== true && sweptAt !== undefined && now - sweptAt < wakeAgainAfterMs(work, policy, now))
    return { kind: 'leave' };
  const reason = wakeReason(work, policy, now);
  return reason === undefined ? { kind: 'leave' } : { kind: 'wake', reason };
}

/**
 * How long work is not woken again, in milliseconds; grows with its age.
 * @param now epoch milliseconds.
 */
export function wakeAgainAfterMs({ createdAt }: Pick<SweptWork, 'createdAt'>, policy: WakePolicy, now: number): number {
  const { overdueAfterMs, wakeAgainShare, wakeAgainMaxMs } = policy;
  return Math.min(wakeAgainMaxMs, Math.max(overdueAfterMs, (now - createdAt) * wakeAgainShare));
}

/**
 * The difference between a running workflow and its row.
 * @param now epoch milliseconds.
 * @returns undefined when there is none.
 */
function wakeReason(work: SweptWork, policy: WakePolicy, now: number): WakeReason | undefined {
  const {
    status,
    updatedAt,
    nextStepAt,
    attemptState,
    lastReportAt = 0,
    relayedSince,
    hasOpenCase,
    mayBeSetBack = false,
  } = work;
  const isOverdue = (since: number) => now - since >= policy.overdueAfterMs;
  if (relayedSince !== undefined && (mayBeSetBack || isOverdue(relayedSince))) return 'report_unanswered';
  const hasEnded = BUYING.has(status) && (attemptState === 'completed' || attemptState === 'failed');
  // The workflow may wait for a report about a send, or for a person because of a case, that the restored row does not
  // know. Nothing else tells it soon.
  if (mayBeSetBack && (nextStepAt ?? 0) <= now) {
    if (SHORT.has(status)) return 'no_report';
    if (hasEnded) return 'attempt_ended';
  }
  // A recent change of the row shows that the workflow is active.
  if (!isOverdue(updatedAt)) return undefined;
  if (status === 'needs_attention' && !hasOpenCase) return 'case_missing';
  if (nextStepAt !== undefined) return isOverdue(nextStepAt) ? 'step_overdue' : undefined;
  if (!BUYING.has(status)) return undefined;
  if (hasEnded && isOverdue(lastReportAt)) return 'attempt_ended';
  if (SHORT.has(status)) return 'no_report';
  return now - Math.max(updatedAt, lastReportAt) >= policy.noReportAfterMs ? 'no_report' : undefined;
}
