import type { ReadingVerdict } from '#domain/catalogue/catalogue.ts';
import type { Runway } from '#domain/money/runway.ts';
import type { WorkKind } from '#domain/work/kinds.ts';
import type { BooksResult } from '#workflows/messages.ts';

/** Where a sweep stopped. */
export interface SweepCursor {
  readonly kind: WorkKind;
  /** The last row of the page: time of its last change in epoch milliseconds, and its id. */
  readonly after: { readonly updatedAt: number; readonly id: string } | undefined;
}

/** The activities of the scheduled workflows. */
export interface MaintenanceActivities {
  /** Looks silent attempts up at the service; new reports go into the inbox like webhooks. */
  reconcileSilentWork(): Promise<{ lookedUp: number; newReports: number }>;
  /**
   * Requests the start of unfinished work without a running workflow, and wakes running work and deliveries that should
   * have continued.
   * @param input.from where the last sweep stopped; absent: from the beginning.
   * @returns the counts, and where the next sweep continues.
   */
  requestIdleWork(input?: { from?: SweepCursor }): Promise<{ requested: number; woken: number; next?: SweepCursor }>;
  /**
   * Deletes stored answers of idempotent requests, events, webhook deliveries, history of ended work and the audit log
   * after their retention times.
   */
  forgetOldAnswers(): Promise<{ forgotten: number }>;
}

/** The activity that compares our books with the wallet at the service. */
export interface BooksActivities {
  /**
   * Reads the wallet, finds the cause of each movement, adds the journal rows that are missing, and stores a report.
   * @param input.runId unique for the run; the same id makes one report.
   */
  reconcileBooks(input: { runId: string }): Promise<BooksResult>;
  /**
   * Calculates the runway of the wallet, and announces once when it falls below the threshold and once when it
   * recovers.
   */
  watchRunway(): Promise<{ kind: Runway['kind'] }>;
}

/** The activities that watch data and time of eSIMs and subscriptions. */
export interface WatchActivities {
  /** Announces eSIMs and subscriptions that end soon, from stored data. */
  announceExpiring(): Promise<{ announced: number }>;
  /** Reads some eSIMs at the service, stores their state, and announces their milestones and low data. */
  readUsage(): Promise<{ looked: number }>;
}

/** What became of the reading of a catalogue. `not_read`: the service did not answer; nothing was recorded. */
export type CatalogueResult =
  | { readonly verdict: 'not_read' }
  | { readonly verdict: ReadingVerdict; readonly created: number; readonly changed: number; readonly removed: number };

/** The activity that reads the catalogue of the service. */
export interface CatalogueActivities {
  /**
   * Reads all packages and VPN plans, stores what has changed, and announces it.
   * @param input.runId unique for the run; the same id makes one reading of each catalogue.
   */
  readCatalogue(input: { runId: string }): Promise<{ packages: CatalogueResult; vpnPlans: CatalogueResult }>;
}
