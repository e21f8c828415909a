/** Times and limits of the sweeper. */

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** Durations are in milliseconds. */
export interface SweepPolicy {
  /** How often unfinished rows are checked for a running workflow. */
  readonly everyMs: number;
  /** Rows that changed more recently than this are skipped. */
  readonly idleAfterMs: number;
  readonly batch: number;
  /** Unfinished rows checked in one step. A step needs five queries and `pageRows / listIds` calls to Temporal. */
  readonly pageRows: number;
  /**
   * Workflow ids in one query to Temporal's visibility: about 25 KB, far below the limits of gRPC and of the server.
   */
  readonly listIds: number;
  /** Time of one sweep; the next one continues where it stopped. Shorter than the timeout of its activity. */
  readonly sweepingMs: number;
  /**
   * When a running workflow has not handled a relayed report, the end of an attempt or a planned step after this time,
   * the workflow is woken. A send, a read of an eSIM and their retries end sooner, so a busy workflow is not woken
   * without need.
   */
  readonly overdueAfterMs: number;
  /**
   * Work that waits for the service, without a time for its next step, is woken after this. The reconciler has looked
   * it up many times by then, so this only finds rows that PostgreSQL has lost changes of.
   */
  readonly noReportAfterMs: number;
  /** Share of its age for which work is not woken again, between `overdueAfterMs` and `wakeAgainMaxMs`. */
  readonly wakeAgainShare: number;
  readonly wakeAgainMaxMs: number;
  /**
   * How long the answer to an Idempotency-Key is kept. A day is usual. Afterwards `external_order_id`, which is unique
   * for good, still refuses a second order.
   */
  readonly answersKeptMs: number;
  /** How long events are kept. A month is usual, and longer than a reader of the feed is normally offline. */
  readonly eventsKeptMs: number;
  /**
   * How long the timeline and the processed reports of ended work, and the audit log, are kept. More than a year, so
   * that the same month of the year before can be explained. Work, attempts, wallet movements and the journal are kept.
   */
  readonly historyKeptMs: number;
  /**
   * Time that one sweep spends on deleting old rows; the next one continues. Well below the timeout of its activity.
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
  noReportAfterMs: 2 * hour,
  wakeAgainShare: 1 / 20,
  wakeAgainMaxMs: 6 * hour,
  answersKeptMs: 24 * hour,
  eventsKeptMs: 30 * 24 * hour,
  historyKeptMs: 400 * 24 * hour,
  forgettingMs: 20 * second,
};
