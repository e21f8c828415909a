import type { Runway } from '#domain/money/runway.ts';
import type { WorkKind } from '#domain/work/work.ts';
import type { BooksResult } from '#workflows/messages.ts';

/** Where a sweep stopped. */
export interface SweepCursor {
  readonly kind: WorkKind;
  /** The last row that was looked at: when it last changed, in epoch milliseconds, and its id. */
  readonly after: { readonly updatedAt: number; readonly id: string } | undefined;
}

/** The activities of the scheduled workflows. */
export interface MaintenanceActivities {
  /** Asks the service about silent attempts; what is new goes into the inbox like a webhook. */
  reconcileSilentWork(): Promise<{ asked: number; news: number }>;
  /**
   * Asks for the start of unfinished work that has no running workflow, for a wake of what runs and should have gone
   * on, and for deliveries that nobody makes.
   *
   * @param input.from where the sweep before has stopped; absent: from the beginning.
   * @returns what was asked for, and where the next sweep goes on.
   */
  requestIdleWork(input?: { from?: SweepCursor }): Promise<{ requested: number; woken: number; next?: SweepCursor }>;
  /**
   * Forgets answers kept for repeated requests of our callers once nobody repeats them any more, and old deliveries of
   * webhooks.
   */
  forgetOldAnswers(): Promise<{ forgotten: number }>;
}

/** The activity that compares our books with the wallet at the service. */
export interface BooksActivities {
  /**
   * Reads the wallet, finds the cause of each movement, writes what our journal lacks, and stores a report.
   *
   * @param input.runId unique for the run: run twice with the same, it makes one report.
   */
  reconcileBooks(input: { runId: string }): Promise<BooksResult>;
  /**
   * Reckons how long the wallet lasts, and announces it once when that falls below the threshold, and when it is over.
   */
  watchRunway(): Promise<{ kind: Runway['kind'] }>;
}

/** The activities that watch what runs out. */
export interface WatchActivities {
  /** Announces eSIMs and subscriptions whose time is about to end, from what we know of them. */
  announceExpiring(): Promise<{ announced: number }>;
  /** Looks at some eSIMs at the service, keeps what it says, and announces data that is low. */
  readUsage(): Promise<{ looked: number }>;
}
