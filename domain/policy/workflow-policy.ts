/**
 * How workflows wait for what is to pass by itself, and how long their histories may grow. Part of the policy of
 * purchases.
 */
import type { FailureClass } from '#domain/work/failure.ts';

/** Durations are in milliseconds. */
export interface WorkflowPolicy {
  /**
   * Events of its history from which on a workflow goes on in a new run. The server ends a workflow at 51,200 events; a
   * run that is replayed reads all of its history; and no step between two looks at the length adds as many events
   * again.
   */
  readonly historyLimit: number;
  /**
   * First wait for an observation that is still to be judged; doubled each time. The relay judges within milliseconds;
   * where it died with a row in hand, its lease ends first.
   */
  readonly barredRetryMs: number;
  /**
   * Longest such wait, and the longest before a send that could not begin is tried again. Long enough that a day of
   * them is a short history, short enough that the end of the cause is noticed while somebody who removed it still
   * looks.
   */
  readonly barredRetryMaxMs: number;
  /**
   * How long nothing moves because of ourselves (an observation that nobody judges, sends that never begin) before a
   * case says so. Longer than a deployment or a restart of PostgreSQL takes.
   */
  readonly stalledAfterMs: number;
  /** First wait before the service is asked again that could not be asked; doubled each time. */
  readonly askAgainMs: number;
  /**
   * Longest such wait: the end of an outage is noticed within this, and 1,000 pieces of work ask once a second
   * together.
   */
  readonly askAgainMaxMs: number;
  /** First wait of a workflow whose row is lost before it looks for it again; doubled each time. */
  readonly missingRowCheckMs: number;
  /** Longest such wait. The row comes back when its caller asks again, or a backup is restored: hours. */
  readonly missingRowCheckMaxMs: number;
}

const minute = 60_000;

export const DEFAULT_WORKFLOW_POLICY: WorkflowPolicy = {
  historyLimit: 1_000,
  barredRetryMs: 5_000,
  barredRetryMaxMs: 5 * minute,
  stalledAfterMs: 15 * minute,
  askAgainMs: minute,
  askAgainMaxMs: 15 * minute,
  missingRowCheckMs: minute,
  missingRowCheckMaxMs: 60 * minute,
};

/** Failures of a question that say nothing but that the service did not answer it now. */
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
 * True when a question that failed in this way is asked again by itself: the service could not be asked. Any other
 * failure is an answer that does not help, or that this service has no such call: a person looks.
 */
export function isLookUpRetried(failure: FailureClass): boolean {
  return PASSING.has(failure);
}
