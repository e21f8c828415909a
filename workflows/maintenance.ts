import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { createBooksActivities } from '#activities/upkeep/books.ts';
import type { CatalogueResult, createCatalogueActivities } from '#activities/upkeep/catalogue.ts';
import type { SweepCursor } from '#activities/upkeep/sweep.ts';
import type { createMaintenanceActivities } from '#activities/upkeep/upkeep-activities.ts';
import type { createWatchActivities } from '#activities/upkeep/watch.ts';
import { WORK_KINDS } from '#domain/work/kinds.ts';
import { HEARTBEAT_TIMEOUT } from '#workflows/activity-options.ts';
import { UPKEEP_TASK_QUEUE, type BooksResult } from '#workflows/messages.ts';

type UpkeepActivities = ReturnType<typeof createMaintenanceActivities> &
  ReturnType<typeof createBooksActivities> &
  ReturnType<typeof createCatalogueActivities> &
  ReturnType<typeof createWatchActivities>;

function within(startToCloseTimeout: '30s' | '1m' | '4m' | '10m', summary: string) {
  return proxyActivities<UpkeepActivities>({
    startToCloseTimeout,
    summary,
    taskQueue: UPKEEP_TASK_QUEUE,
    heartbeatTimeout: HEARTBEAT_TIMEOUT,
    // A schedule starts the next run after one that fails: a few tries are enough.
    retry: { initialInterval: '2s', maximumAttempts: 3 },
  });
}

// Each result is stored separately: what a run has done before it is cut off counts.
const { reconcileSilentWork } = within('1m', 'Look up at the service what has been silent for long');
const { requestIdleWork } = within('30s', 'Start or wake the workflows of idle work');
const { forgetOldAnswers } = within('30s', 'Delete rows that have been kept long enough');
// Reads all pages of the wallet, up to three times while it changes; then one transaction.
const { reconcileBooks } = within('10m', 'Compare our journal with the wallet at the service');
const { watchRunway } = within('30s', 'Estimate how long the wallet lasts');
// Reads two lists, each with a deadline of a minute, and stores each in one transaction.
const { readCatalogue } = within('4m', 'Read packages and VPN plans of the service');
const { announceExpiring } = within('4m', 'Announce what expires soon');
const { readUsage } = within('4m', 'Read the data usage of eSIMs at the service');

/** Looks up silent work at the service. One reconciler serves all kinds of work. */
export async function reconcileWorkflow(): Promise<{ lookedUp: number; newReports: number }> {
  return reconcileSilentWork();
}

/** What a sweep did, and where the next one begins. */
interface SweepResult {
  readonly requested: number;
  readonly woken: number;
  readonly forgotten: number;
  readonly next?: SweepCursor;
}

/**
 * Gives all unfinished work a running workflow, wakes workflows that have missed something, and deletes old idempotency
 * answers.
 */
export async function sweepWorkflow(): Promise<SweepResult> {
  // A schedule hands the result of its last run to the next one.
  const from = cursorOf(workflowInfo().lastResult);
  const swept = await requestIdleWork(from === undefined ? {} : { from });
  const { forgotten } = await forgetOldAnswers();
  return { ...swept, forgotten };
}

/** @returns undefined, for the beginning, when the result has no cursor or one of another version. */
function cursorOf(last: unknown): SweepCursor | undefined {
  const { next } = objectOf(last);
  const { kind: name, after } = objectOf(next);
  const { updatedAt, id } = objectOf(after);
  const kind = WORK_KINDS.find((each) => each === name);
  if (kind === undefined || typeof updatedAt !== 'number' || typeof id !== 'string') return undefined;
  return { kind, after: { updatedAt, id } };
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

/** Reconciles our books with the wallet at the service, and estimates how long its balance lasts. */
export async function booksWorkflow(): Promise<BooksResult> {
  const result = await reconcileBooks({ runId: workflowInfo().runId });
  await watchRunway();
  return result;
}

/** Announces eSIMs and subscriptions that expire soon, and reads the data usage of some eSIMs at the service. */
export async function watchWorkflow(): Promise<{ expiring: number; looked: number }> {
  const { announced } = await announceExpiring();
  const { looked } = await readUsage();
  return { expiring: announced, looked };
}

/** Reads the packages and VPN plans of the service, and announces what has changed. */
export async function catalogueWorkflow(): Promise<{ packages: CatalogueResult; vpnPlans: CatalogueResult }> {
  return readCatalogue({ runId: workflowInfo().runId });
}
