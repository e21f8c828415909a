/** A row or inbox may show that a workflow should have continued: PostgreSQL may have lost commits. */
import type { SweepPolicy } from '#domain/policy/upkeep-policy.ts';
import type { AttemptState } from '#domain/relay/observation.ts';
import type { WorkKind } from '#domain/work/kinds.ts';
import type { WorkStatus } from '#domain/work/lifecycle.ts';

export interface SweepCursor {
  readonly kind: WorkKind;
  /** The last row of the page; `updatedAt` in Unix milliseconds. */
  readonly after: { readonly updatedAt: number; readonly id: string } | undefined;
}

/** Times are Unix milliseconds. */
export interface SweptWork {
  readonly status: WorkStatus;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** PostgreSQL may have lost later changes, and the workflow was neither compared with the row nor woken since. */
  readonly mayBeSetBack?: boolean;
  readonly nextStepAt?: number;
  readonly sweptAt?: number;
  readonly attemptState?: AttemptState;
  readonly lastReportAt?: number;
  /** Since when the oldest relayed report is not applied. */
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

const BUYING: ReadonlySet<WorkStatus> = new Set<WorkStatus>(['accepted', 'submitting', 'processing', 'held']);
/** These last seconds unless a next step is planned. */
const SHORT: ReadonlySet<WorkStatus> = new Set<WorkStatus>(['accepted', 'submitting', 'held']);

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

/** Milliseconds; grows with its age. */
export function wakeAgainAfterMs({ createdAt }: Pick<SweptWork, 'createdAt'>, policy: WakePolicy, now: number): number {
  const { overdueAfterMs, wakeAgainShare, wakeAgainMaxMs } = policy;
  return Math.min(wakeAgainMaxMs, Math.max(overdueAfterMs, (now - createdAt) * wakeAgainShare));
}

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
  // The workflow may wait for a report or for a person, and the restored row does not know it.
  if (mayBeSetBack && (nextStepAt ?? 0) <= now) {
    if (SHORT.has(status)) return 'no_report';
    if (hasEnded) return 'attempt_ended';
  }
  if (!isOverdue(updatedAt)) return undefined;
  if (status === 'needs_attention' && !hasOpenCase) return 'case_missing';
  if (nextStepAt !== undefined) return isOverdue(nextStepAt) ? 'step_overdue' : undefined;
  if (!BUYING.has(status)) return undefined;
  if (hasEnded && isOverdue(lastReportAt)) return 'attempt_ended';
  if (SHORT.has(status)) return 'no_report';
  return now - Math.max(updatedAt, lastReportAt) >= policy.noReportAfterMs ? 'no_report' : undefined;
}
