/** Intervals and limits of the reconciler, the books, the catalogue, and the watches on the wallet and on eSIMs. */

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

export interface ReconcilePolicy {
  /** Work that the service has accepted counts as silent when no report came for this long. */
  readonly silentAfterMs: number;
  /**
   * Share of its age for which silent work is not looked up again, up to `lookUpAgainMaxMs`. A review of two weeks
   * is then
   * looked up about a hundred times, not ten thousand times.
   */
  readonly lookUpAgainShare: number;
  readonly lookUpAgainMaxMs: number;
  /** How often the reconciler runs. */
  readonly everyMs: number;
  /** Pieces of work checked in one run. */
  readonly silentPerRun: number;
  /** Single reads at the service in one run, so that a backlog cannot use up the rate limit. */
  readonly readsPerRun: number;
  /**
   * Single reads under way at once. A service that takes 200 ms then answers all of a run in 10 seconds, at 20 reads a
   * second.
   */
  readonly readsAtOnce: number;
  /** From this number of silent pieces of work of one kind on, their list is read first: one page is one read. */
  readonly listFrom: number;
  /** Pages of such a list in one run; work that they do not show is looked up one by one. */
  readonly listPages: number;
}

export interface BooksPolicy {
  /**
   * How often our books are compared with the wallet. Lost money must be noticed within the hour, and thousands of
   * movements a day are a few pages.
   */
  readonly everyMs: number;
  /** Part of the earlier period that is read again: a debit may appear late, with an earlier time. */
  readonly overlapMs: number;
  /**
   * A more recent movement may lack its cause: its answer is on its way, or its attempt is sent again
   * (`resendWindowMs`), looked up, or found by the reconciler.
   */
  readonly graceMs: number;
  /** Two debits of one VPN subscription within this time are one too many. No known plan is shorter than a day. */
  readonly shortestPeriodMs: number;
  /**
   * Pages of 100 movements read in one run: more than a busy shop makes in a day. A longer outage needs several runs.
   */
  readonly pages: number;
  /** Deadline for all of these pages. */
  readonly readDeadlineMs: number;
  /** How long reports are kept: a quarter, after which the accounts of that period are usually closed. */
  readonly reportsKeptMs: number;
}

/** Calculation of the wallet's runway, and when it is too short. */
export interface RunwayPolicy {
  /** Days of sales that are counted: two weeks contain each weekday twice. */
  readonly windowDays: number;
  /** Least number of days for a mean. */
  readonly minimumDays: number;
  /** An older balance is not used. The comparison of the books reads the balance every `books.everyMs`. */
  readonly balanceAgeMs: number;
  /** A shorter runway is announced. A bank transfer takes up to three days. */
  readonly lowMs: number;
}

/** How eSIMs and subscriptions are watched for data and time that run out. */
export interface WatchPolicy {
  /** How often a batch is read. */
  readonly everyMs: number;
  /** Calls to the service in one run, so that many eSIMs cannot use up the rate limit. */
  readonly readsPerRun: number;
  /**
   * How long the reading of an eSIM in use is valid. A customer uses up a package in days, so an announcement six hours
   * late still leaves time for a top-up.
   */
  readonly againAfterMs: number;
  /** The same for an eSIM that is not in use yet or is used up: its data hardly changes. */
  readonly idleAfterMs: number;
  /** Thresholds of remaining data, as shares from 0 to 1. */
  readonly dataLow: readonly number[];
  /** Thresholds of remaining time, in milliseconds. */
  readonly expiringMs: readonly number[];
  /** Rows announced in one transaction. */
  readonly batch: number;
}

/** How the catalogue of packages and VPN plans is read. */
export interface CataloguePolicy {
  /**
   * How often it is read. Purchases read the price again, so an older one costs nothing. Ten thousand packages are a
   * hundred calls.
   */
  readonly everyMs: number;
  /**
   * Share of a catalogue, from 0 to 1, that a reading may drop at once. If it lacks more, a second reading must confirm
   * it: a supplier that fails for a moment looks the same.
   */
  readonly maxDropShare: number;
  /** Pages of 100 items: a bound for a list that does not end. */
  readonly pages: number;
  /** Deadline for all pages of one list, and twice it is below the timeout of the activity. */
  readonly readDeadlineMs: number;
  /** How long readings are kept: a week, to find out when an item has disappeared. */
  readonly readingsKeptMs: number;
}

export const RECONCILE_POLICY: ReconcilePolicy = {
  silentAfterMs: 2 * minute,
  lookUpAgainShare: 1 / 20,
  lookUpAgainMaxMs: 6 * hour,
  everyMs: minute,
  silentPerRun: 2_000,
  readsPerRun: 200,
  readsAtOnce: 4,
  listFrom: 10,
  listPages: 40,
};

export const BOOKS_POLICY: BooksPolicy = {
  everyMs: 15 * minute,
  overlapMs: 2 * hour,
  graceMs: 30 * minute,
  shortestPeriodMs: 24 * hour,
  pages: 200,
  readDeadlineMs: 2 * minute,
  reportsKeptMs: 90 * 24 * hour,
};

export const RUNWAY_POLICY: RunwayPolicy = {
  windowDays: 14,
  minimumDays: 3,
  balanceAgeMs: hour,
  lowMs: 3 * 24 * hour,
};

export const WATCH_POLICY: WatchPolicy = {
  everyMs: 5 * minute,
  readsPerRun: 100,
  againAfterMs: 6 * hour,
  idleAfterMs: 24 * hour,
  dataLow: [0.2, 0.05],
  expiringMs: [72 * hour, 24 * hour],
  batch: 500,
};

export const CATALOGUE_POLICY: CataloguePolicy = {
  everyMs: 5 * minute,
  maxDropShare: 0.2,
  pages: 1_000,
  readDeadlineMs: minute,
  readingsKeptMs: 7 * 24 * hour,
};
