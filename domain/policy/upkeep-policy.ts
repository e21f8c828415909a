/** How often the reconciler, the books, the wallet and the eSIMs are looked at, and how much of them in one run. */

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

export interface ReconcilePolicy {
  /** Work the service has accepted counts as silent when nothing was heard of it for this long. */
  readonly silentAfterMs: number;
  /**
   * The older silent work is, the longer it is left alone between two questions: by this share of its age, up to
   * `askAgainMaxMs`. A review of two weeks is asked about some hundred times and not ten thousand.
   */
  readonly askAgainShare: number;
  readonly askAgainMaxMs: number;
  /** How often the reconciler runs. */
  readonly everyMs: number;
  /** Work looked at in one run. */
  readonly silentPerRun: number;
  /** Single reads asked of the service in one run, so that a backlog cannot use up the rate limit. */
  readonly readsPerRun: number;
  /** From so much silent work of one kind on, its list is read first: a page of it is one read. */
  readonly listFrom: number;
  /** Pages of such a list in one run; what they do not show is asked about one by one. */
  readonly listPages: number;
}

export interface BooksPolicy {
  /**
   * How often our books are compared with the wallet. Money that is lost is to be noticed within the hour, and a wallet
   * of thousands of movements a day is some pages.
   */
  readonly everyMs: number;
  /** How much of what was read before is read again: debits may show late, under the time at which they were made. */
  readonly overlapMs: number;
  /**
   * A movement younger than this may still be without a cause: its answer is on its way, it is sent again
   * (`resendWindowMs`), looked up, or found by the reconciler.
   */
  readonly graceMs: number;
  /** Two debits of one VPN subscription within this are one too many. No plan is known to be shorter than a day. */
  readonly shortestPeriodMs: number;
  /** Pages of 100 movements read in one run. More than a day's worth of a busy shop; a longer outage needs more. */
  readonly pages: number;
  /** For all of those pages. */
  readonly readDeadlineMs: number;
  /** How long reports are kept. A quarter: what is not looked into by then is in the books of somebody else. */
  readonly reportsKeptMs: number;
}

/** How long the wallet lasts, and from when on that is too short. */
export interface RunwayPolicy {
  /** Sales of so many days are looked at: two weeks hold each day of the week twice. */
  readonly windowDays: number;
  /** Of fewer days nothing is said: a mean of one day is none. */
  readonly minimumDays: number;
  /**
   * A balance that is older says nothing about the wallet of now. The comparison of the books reads it every
   * `books.everyMs`.
   */
  readonly balanceAgeMs: number;
  /** A wallet that lasts shorter is announced. Money takes up to three days from one bank to another. */
  readonly lowMs: number;
}

/** How eSIMs and subscriptions are watched for what runs out. */
export interface WatchPolicy {
  /** How often a batch is looked at. */
  readonly everyMs: number;
  /** Calls to the service in one run, so that a large stock of eSIMs cannot use up the rate limit. */
  readonly readsPerRun: number;
  /**
   * How long the reading of an eSIM in use is good for. A customer uses up a package in days, and who is told a quarter
   * of a day late can still top up.
   */
  readonly againAfterMs: number;
  /** The same of one that is not in use yet, or is used up: it hardly changes. */
  readonly idleAfterMs: number;
  /** Shares of the data, from 0 to 1: what is left at or below one is announced. */
  readonly dataLow: readonly number[];
  /** What ends within one of these is announced. */
  readonly expiringMs: readonly number[];
  /** Rows announced in one transaction. */
  readonly batch: number;
}

export const RECONCILE_POLICY: ReconcilePolicy = {
  silentAfterMs: 2 * minute,
  askAgainShare: 1 / 20,
  askAgainMaxMs: 6 * hour,
  everyMs: minute,
  silentPerRun: 2_000,
  readsPerRun: 200,
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
