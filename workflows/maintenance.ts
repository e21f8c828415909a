import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import type {
  BooksActivities,
  CatalogueActivities,
  CatalogueResult,
  MaintenanceActivities,
  SweepCursor,
  WatchActivities,
} from '#activities/upkeep/upkeep-types.ts';
import { WORK_KINDS } from '#domain/work/kinds.ts';
import { HEARTBEAT_TIMEOUT } from '#workflows/activity-options.ts';
import { UPKEEP_TASK_QUEUE, type BooksResult } from '#workflows/messages.ts';

// A schedule starts the next run after one that fails: a few tries are enough.
const options = {
  taskQueue: UPKEEP_TASK_QUEUE,
  heartbeatTimeout: HEARTBEAT_TIMEOUT,
  retry: { initialInterval: '2s', maximumAttempts: 3 },
} as const;

// Each result is stored separately: what a run has done before it is cut off counts.
const { reconcileSilentWork } = proxyActivities<MaintenanceActivities>({
  startToCloseTimeout: '1m',
  summary: 'Look up at the service what has been silent for long',
  ...options,
});
const { requestIdleWork } = proxyActivities<MaintenanceActivities>({
  startToCloseTimeout: '30s',
  summary: 'Start or wake the workflows of idle work',
  ...options,
});
const { forgetOldAnswers } = proxyActivities<MaintenanceActivities>({
  startToCloseTimeout: '30s',
  summary: 'Delete rows that have been kept long enough',
  ...options,
});

// Reads all pages of the wallet, up to three times while it changes; then one transaction.
const { reconcileBooks } = proxyActivities<BooksActivities>({
  startToCloseTimeout: '10m',
  summary: 'Compare our journal with the wallet at the service',
  ...options,
});

const { watchRunway } = proxyActivities<BooksActivities>({
  startToCloseTimeout: '30s',
  summary: 'Estimate how long the wallet lasts',
  ...options,
});

// Reads two lists, each with a deadline of a minute, and stores each in one transaction.
const { readCatalogue } = proxyActivities<CatalogueActivities>({
  startToCloseTimeout: '4m',
  summary: 'Read packages and VPN plans of the service',
  ...options,
});

// Each result is stored on its own, as above.
const { announceExpiring } = proxyActivities<WatchActivities>({
  startToCloseTimeout: '4m',
  summary: 'Announce what expires soon',
  ...options,
});
const { readUsage } = proxyActivities<WatchActivities>({
  startToCloseTimeout: '4m',
  summary: 'Read the data usage of eSIMs at the service',
  ...options,
});

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
