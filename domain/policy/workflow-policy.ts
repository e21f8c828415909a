/** How workflows wait, and how long their histories may grow. Part of the purchase policy. */
import type { FailureClass } from '#domain/work/failure.ts';

/** Durations are in milliseconds. */
export interface WorkflowPolicy {
  /**
   * Number of history events from which a workflow continues as new. The server ends a workflow at 51,200 events, and a
   * replay reads the whole history. No step between two checks of the length adds as many events again.
   */
  readonly historyLimit: number;
  /**
   * First wait for an observation that is not judged yet; doubled each time. The relay judges within milliseconds; the
   * row of a relay that died is free after its lease.
   */
  readonly blockedRetryMs: number;
  /**
   * Longest such wait, also before a send that could not begin is tried again. A day of such waits is still a short
   * history, and an operator who removes the cause sees the effect within minutes.
   */
  readonly blockedRetryMaxMs: number;
  /**
   * How long work may stand still because of ourselves (an observation that is not judged, sends that do not begin)
   * before a case opens. Longer than a deployment or a restart of PostgreSQL.
   */
  readonly stalledAfterMs: number;
  /** First wait before a look-up that failed is repeated; doubled each time. */
  readonly lookUpAgainMs: number;
  /**
   * Longest such wait: the end of an outage is noticed within this time, and 1,000 pieces of work together make about
   * one look-up a second.
   */
  readonly lookUpAgainMaxMs: number;
  /** First wait before a workflow reads its lost row again; doubled each time. */
  readonly missingRowCheckMs: number;
  /** Longest such wait. The row returns when its caller repeats the request or a backup is restored: after hours. */
  readonly missingRowCheckMaxMs: number;
}

const minute = 60_000;

export const DEFAULT_WORKFLOW_POLICY: WorkflowPolicy = {
  historyLimit: 1_000,
  blockedRetryMs: 5_000,
  blockedRetryMaxMs: 5 * minute,
  stalledAfterMs: 15 * minute,
  lookUpAgainMs: minute,
  lookUpAgainMaxMs: 15 * minute,
  missingRowCheckMs: minute,
  missingRowCheckMaxMs: 60 * minute,
};

/** Failures of a look-up that only show that the service did not answer now. */
const PASSING: ReadonlySet<FailureClass> = new Set([
  'not_sent',
  'service_down',
  'timeout',
  'connection_lost',
  'server_error',
  'unreadable_answer',
  'rate_limited',
  'unauthorized',
  'not_approved',
  'worker_lost',
]);

/**
 * True when a failed look-up is repeated automatically: the service could not be reached. Any other failure is an
 * answer that does not help, or shows that the service has no such call; an operator has to look.
 */
export function isLookUpRetried(failure: FailureClass): boolean {
  return PASSING.has(failure);
}
