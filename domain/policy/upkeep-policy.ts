/** Intervals and limits of the reconciler, the sweeper, the books, the catalogue, and the watches. */
import {
  A_SECOND,
  count,
  DAY,
  duration,
  durations,
  HOUR,
  MINUTE,
  SECOND,
  shares,
  type Values,
  valuesOf,
} from '#domain/policy/settings.ts';

export const RECONCILE_SETTINGS = {
  everyMs: duration('reconciler.every', MINUTE, 'How often silent work is looked up at the service.', A_SECOND),
  silentAfterMs: duration(
    'reconciler.silent_after',
    2 * MINUTE,
    'Time without a report after which accepted work counts as silent.',
  ),
  /**
   * Share of its age for which silent work is not looked up again, up to `lookUpAgainMaxMs`. A review of two weeks is
   * then looked up about a hundred times, not ten thousand times.
   */
  lookUpAgainShare: 1 / 20,
  lookUpAgainMaxMs: 6 * HOUR,
  /** Pieces of work checked in one run. */
  silentPerRun: 2_000,
  /** Single reads at the service in one run, so that a backlog cannot use up the rate limit. */
  readsPerRun: 200,
  /** A service that takes 200 ms then answers all of a run in 10 seconds, at 20 reads a second. */
  readsAtOnce: 4,
  /** From this number of silent pieces of work of one kind on, their list is read first: one page is one read. */
  listFrom: 10,
  /** Pages of such a list in one run; work that they do not show is looked up one by one. */
  listPages: 40,
};

export const SWEEP_SETTINGS = {
  everyMs: duration(
    'sweeper.every',
    MINUTE,
    'How often the sweeper looks for unfinished work without a running workflow, or with a workflow that should have ' +
      'continued.',
    A_SECOND,
  ),
  idleAfterMs: duration('sweeper.idle_after', 2 * MINUTE, 'How long an order must be unchanged for that.'),
  batch: 500,
  /** Unfinished rows checked in one step. A step needs five queries and `pageRows / listIds` calls to Temporal. */
  pageRows: 1_000,
  /** Workflow ids in one query to Temporal: about 25 KB, far below the limits of gRPC and of the server. */
  listIds: 500,
  /** Time of one sweep; the next one continues where it stopped. Shorter than the timeout of its activity. */
  sweepingMs: 15 * SECOND,
  /**
   * When a running workflow has not handled a relayed report, the end of an attempt or a planned step after this time,
   * the workflow is woken. A send, a read of an eSIM and their retries end sooner, so a busy workflow is not woken
   * without need.
   */
  overdueAfterMs: 15 * MINUTE,
  /**
   * Work that waits for the service, without a time for its next step, is woken after this. The reconciler has looked
   * it up many times by then, so this only finds rows that PostgreSQL has lost changes of.
   */
  noReportAfterMs: 2 * HOUR,
  /** Share of its age for which work is not woken again, between `overdueAfterMs` and `wakeAgainMaxMs`. */
  wakeAgainShare: 1 / 20,
  wakeAgainMaxMs: 6 * HOUR,
  /**
   * How long the answer to an Idempotency-Key is kept. A day is usual. Afterwards `external_order_id`, which is unique
   * for good, still refuses a second order.
   */
  answersKeptMs: DAY,
  /** More than a year, so that the same month of the year before can be explained. */
  historyKeptMs: duration(
    'sweeper.history_kept',
    400 * DAY,
    'How long the timeline and the processed reports of ended work, and the audit log, are kept. Orders and other ' +
      'work, attempts, wallet movements and the journal are kept for good. At least twice ' +
      'service_webhooks.timestamp_tolerance.',
  ),
  /** A month is usual, and longer than a reader of the feed is normally offline. */
  eventsKeptMs: duration(
    'events.kept',
    30 * DAY,
    'How long events are kept for `GET /v1/events`; a cursor from before is refused with `410`. More than ' +
      'event_webhooks.retry_for, because an event that is no longer stored cannot be sent.',
  ),
  /** Time that one sweep spends on deleting old rows; the next one continues. Below the timeout of its activity. */
  forgettingMs: 20 * SECOND,
};

export const BOOKS_SETTINGS = {
  /** Lost money must be noticed within the hour, and thousands of movements a day are a few pages. */
  everyMs: duration('books.every', 15 * MINUTE, 'How often the books are compared with the wallet.', A_SECOND),
  /** A debit may appear late, with an earlier time. */
  overlapMs: duration(
    'books.overlap',
    2 * HOUR,
    'Period of the wallet that is read again, for movements that appear late.',
  ),
  /** Until then an answer may be on its way, or its attempt is sent again, looked up, or found by the reconciler. */
  graceMs: duration('books.grace', 30 * MINUTE, 'How old a movement without a cause must be before it is reported.'),
  /** Two debits of one VPN subscription within this time are one too many. No known plan is shorter than a day. */
  shortestPeriodMs: DAY,
  /** More than a busy shop makes in a day. A longer outage needs several runs. */
  pages: count('books.pages', 200, [1, 10_000], 'Pages of 100 movements read in one run.'),
  /** Deadline for all of these pages. */
  readDeadlineMs: 2 * MINUTE,
  /** How long reports are kept: a quarter, after which the accounts of that period are usually closed. */
  reportsKeptMs: 90 * DAY,
};

/** The wallet's runway: how it is calculated, and when it is too short. */
export const RUNWAY_SETTINGS = {
  /** A bank transfer takes up to three days. */
  lowMs: duration(
    'wallet.runway_low',
    3 * DAY,
    'If the wallet will be empty before this time at the rate of recent sales, this is announced once.',
  ),
  /** Two weeks contain each weekday twice. */
  windowDays: count('wallet.runway_window_days', 14, [1, 92], 'Days of sales used for this calculation.'),
  /** Least number of days for a mean. */
  minimumDays: 3,
  /** An older balance is not used. The comparison of the books reads the balance every `books.everyMs`. */
  balanceAgeMs: HOUR,
};

/** eSIMs and subscriptions that run out. */
export const WATCH_SETTINGS = {
  everyMs: duration(
    'watch.every',
    5 * MINUTE,
    'How often eSIMs and subscriptions are checked for use, low data and coming expiry.',
    A_SECOND,
  ),
  /** Many eSIMs cannot use up the rate limit. */
  readsPerRun: count(
    'watch.usage_reads',
    100,
    [0, 10_000],
    'Calls to the service in one such run; with 0 only coming expiry is announced.',
  ),
  /** A customer uses up a package in days: an announcement six hours late still leaves time for a top-up. */
  againAfterMs: duration('watch.usage_age', 6 * HOUR, 'Age at which the reading of an active eSIM is repeated.'),
  /** The same for an eSIM that is not in use yet or is used up: its data hardly changes. */
  idleAfterMs: DAY,
  dataLow: shares(
    'watch.data_low',
    [0.2, 0.05],
    'Remaining data at or below one of these shares is announced; `[]` for none.',
  ),
  expiringMs: durations(
    'watch.expiring',
    [72 * HOUR, 24 * HOUR],
    'An eSIM or subscription that ends within one of these is announced; `[]` for none.',
  ),
  /** Rows announced in one transaction. */
  batch: 500,
};

/** The catalogue of packages and VPN plans. */
export const CATALOGUE_SETTINGS = {
  /** Purchases read the price again, so an older one costs nothing. Ten thousand packages are a hundred calls. */
  everyMs: duration(
    'catalogue.every',
    5 * MINUTE,
    'How often packages and VPN plans are read from the service and stored.',
    A_SECOND,
  ),
  /**
   * Share of a catalogue, from 0 to 1, that a reading may drop at once. If it lacks more, a second reading must confirm
   * it: a supplier that fails for a moment looks the same.
   */
  maxDropShare: 0.2,
  /** Pages of 100 items: a bound for a list that does not end. */
  pages: 1_000,
  /** Deadline for all pages of one list, and twice it is below the timeout of the activity. */
  readDeadlineMs: MINUTE,
  /** How long readings are kept: a week, to find out when an item has disappeared. */
  readingsKeptMs: 7 * DAY,
};

export type ReconcilePolicy = Values<typeof RECONCILE_SETTINGS>;
export type SweepPolicy = Values<typeof SWEEP_SETTINGS>;
export type BooksPolicy = Values<typeof BOOKS_SETTINGS>;
export type RunwayPolicy = Values<typeof RUNWAY_SETTINGS>;
export type WatchPolicy = Values<typeof WATCH_SETTINGS>;
export type CataloguePolicy = Values<typeof CATALOGUE_SETTINGS>;
export const CATALOGUE_POLICY: CataloguePolicy = valuesOf(CATALOGUE_SETTINGS);
