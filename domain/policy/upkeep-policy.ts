/** Intervals and limits of the reconciler, the sweeper, the books, the catalogue, and the watches. */
import {
  A_SECOND,
  count,
  DAY,
  duration,
  HOUR,
  MINUTE,
  numbers,
  SECOND,
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
  /** Share of its age for which silent work is not looked up again: about a hundred look-ups in two weeks. */
  lookUpAgainShare: 1 / 20,
  lookUpAgainMaxMs: 6 * HOUR,
  silentPerRun: 2_000,
  /** So that a backlog cannot use up the rate limit. */
  readsPerRun: 200,
  /** A service that takes 200 ms then answers all of a run in 10 seconds, at 20 reads a second. */
  readsAtOnce: 4,
  /** From this number of silent pieces of work on, their list is read first: one page is one read. */
  listFrom: 10,
  /** Work that they do not show is looked up one by one. */
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
  /** A step needs five queries and `pageRows / listIds` calls to Temporal. */
  pageRows: 1_000,
  /** About 25 KB, far below the limits of gRPC and of the server. */
  listIds: 500,
  /** Shorter than the timeout of its activity; the next sweep continues. */
  sweepingMs: 15 * SECOND,
  /** A workflow that has not handled a report or a planned step for so long is woken. Sends and retries end sooner. */
  overdueAfterMs: 15 * MINUTE,
  /** For work without a time for its next step. This only finds rows that PostgreSQL has lost changes of. */
  noReportAfterMs: 2 * HOUR,
  /** Share of its age, between `overdueAfterMs` and `wakeAgainMaxMs`. */
  wakeAgainShare: 1 / 20,
  wakeAgainMaxMs: 6 * HOUR,
  /** Afterwards `external_order_id`, unique for good, still refuses a second order. */
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
  /** Below the timeout of its activity; the next sweep continues. */
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
  /** Until then an answer may be on its way. */
  graceMs: duration('books.grace', 30 * MINUTE, 'How old a movement without a cause must be before it is reported.'),
  /** Two debits within this time are one too many. No known plan is shorter than a day, which may have 23 hours. */
  shortestPeriodMs: 20 * HOUR,
  /** More than a busy shop makes in a day. A longer outage needs several runs. */
  pages: count('books.pages', 200, [1, 10_000], 'Pages of 100 movements read in one run.'),
  readDeadlineMs: 2 * MINUTE,
  /** A quarter: the accounts of that period are then usually closed. */
  reportsKeptMs: 90 * DAY,
};

export const RUNWAY_SETTINGS = {
  /** A bank transfer takes up to three days. */
  lowMs: duration(
    'wallet.runway_low',
    3 * DAY,
    'If the wallet will be empty before this time at the rate of recent sales, this is announced once.',
  ),
  /** Two weeks contain each weekday twice. */
  windowDays: count('wallet.runway_window_days', 14, [1, 92], 'Days of sales used for this calculation.'),
  minimumDays: 3,
  /** The comparison of the books reads the balance every `books.everyMs`. */
  balanceAgeMs: HOUR,
};

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
  /** Its data hardly changes. */
  idleAfterMs: DAY,
  dataLow: numbers(
    'watch.data_low',
    'shares',
    [0.2, 0.05],
    'Remaining data at or below one of these shares is announced; `[]` for none.',
  ),
  expiringMs: numbers(
    'watch.expiring',
    'durations',
    [72 * HOUR, 24 * HOUR],
    'An eSIM or subscription that ends within one of these is announced; `[]` for none.',
  ),
  batch: 500,
};

export const CATALOGUE_SETTINGS = {
  /** Purchases read the price again, so an older one costs nothing. Ten thousand packages are a hundred calls. */
  everyMs: duration(
    'catalogue.every',
    5 * MINUTE,
    'How often packages and VPN plans are read from the service and stored.',
    A_SECOND,
  ),
  /** Share of a catalogue, from 0 to 1. A second reading must confirm more: a supplier may fail for a moment. */
  maxDropShare: 0.2,
  /** A bound for a list that does not end. */
  pages: 1_000,
  /** Twice this is below the timeout of the activity. */
  readDeadlineMs: MINUTE,
  /** To find out when an item has disappeared. */
  readingsKeptMs: 7 * DAY,
};

export type ReconcilePolicy = Values<typeof RECONCILE_SETTINGS>;
export type SweepPolicy = Values<typeof SWEEP_SETTINGS>;
export type BooksPolicy = Values<typeof BOOKS_SETTINGS>;
export type RunwayPolicy = Values<typeof RUNWAY_SETTINGS>;
export type WatchPolicy = Values<typeof WATCH_SETTINGS>;
export type CataloguePolicy = Values<typeof CATALOGUE_SETTINGS>;
export const CATALOGUE_POLICY: CataloguePolicy = valuesOf(CATALOGUE_SETTINGS);
