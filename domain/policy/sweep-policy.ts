/** What the sweeper goes by. */

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** Durations are in milliseconds. */
export interface SweepPolicy {
  /** How often unfinished rows are checked for a running workflow. */
  readonly everyMs: number;
  /** Rows whose last sign of life is younger than this are left alone. */
  readonly idleAfterMs: number;
  readonly batch: number;
  /** Unfinished rows looked at in one step. A step costs five queries and `pageRows / listIds` calls to Temporal. */
  readonly pageRows: number;
  /**
   * Workflow ids in one question to Temporal's visibility: some 25 KB of query, far below what gRPC and the server
   * take.
   */
  readonly listIds: number;
  /**
   * How long one sweep goes through unfinished rows; the next one goes on from there. Within the time that its activity
   * has.
   */
  readonly sweepingMs: number;
  /**
   * A report that was handed to a workflow, an end of an attempt or a planned step to which a running workflow has not
   * come after so long is shown to it again. A send, a read of an eSIM and their retries are over by then; a busy
   * worker is not woken in vain.
   */
  readonly overdueAfterMs: number;
  /**
   * Work that waits for the service, with no time for its next step, is shown to its workflow after this. The
   * reconciler has asked about it many times by then, so only a row that was set back is found so.
   */
  readonly unheardAfterMs: number;
  /**
   * The older the work, the longer it is left alone between two such wakes: by this share of its age, from
   * `overdueAfterMs` up to `wakeAgainMaxMs`.
   */
  readonly wakeAgainShare: number;
  readonly wakeAgainMaxMs: number;
  /** How long the answer to an Idempotency-Key is kept. A day is what callers know from elsewhere; afterwards
   * external_order_id, which is unique for good, still refuses a second order. */
  readonly answersKeptMs: number;
  /**
   * How long events are kept. A month is what callers know from elsewhere, and longer than anybody who reads the feed
   * is away.
   */
  readonly eventsKeptMs: number;
  /**
   * How long one sweep deletes what is kept no longer; the rest waits for the next one. Well within the time that its
   * activity has.
   */
  readonly forgettingMs: number;
}

export const SWEEP_POLICY: SweepPolicy = {
  everyMs: minute,
  idleAfterMs: 2 * minute,
  batch: 500,
  pageRows: 1_000,
  listIds: 500,
  sweepingMs: 15 * second,
  overdueAfterMs: 15 * minute,
  unheardAfterMs: 2 * hour,
  wakeAgainShare: 1 / 20,
  wakeAgainMaxMs: 6 * hour,
  answersKeptMs: 24 * hour,
  eventsKeptMs: 30 * 24 * hour,
  forgettingMs: 20 * second,
};
