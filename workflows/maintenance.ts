import { isCancellation, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { createBooksActivities } from '#activities/upkeep/books.ts';
import type { createCatalogueActivities } from '#activities/upkeep/catalogue.ts';
import type { createMaintenanceActivities } from '#activities/upkeep/upkeep-activities.ts';
import type { createWatchActivities } from '#activities/upkeep/watch.ts';
import type { SweepCursor } from '#domain/relay/sweep-decision.ts';
import { WORK_KINDS } from '#domain/work/kinds.ts';
import { UPKEEP_TASK_QUEUE, type BooksResult } from '#workflows/messages.ts';
import { HEARTBEAT_TIMEOUT } from '#workflows/options.ts';

type UpkeepActivities = ReturnType<typeof createMaintenanceActivities> &
  ReturnType<typeof createBooksActivities> &
  ReturnType<typeof createCatalogueActivities> &
  ReturnType<typeof createWatchActivities>;

/** Made when it is used: a bundle is evaluated for every workflow. */
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

export async function reconcileWorkflow() {
  return within('1m', 'Look up at the service what has been silent for long').reconcileSilentWork();
}

export async function sweepWorkflow() {
  // A schedule hands the result of its last run to the next one.
  const from = cursorOf(workflowInfo().lastResult);
  const { requestIdleWork } = within('30s', 'Start or wake the workflows of idle work');
  const swept = await requestIdleWork(from === undefined ? {} : { from });
  const { forgetOldAnswers } = within('30s', 'Delete rows that have been kept long enough');
  try {
    return { ...swept, ...(await forgetOldAnswers()) };
  } catch (error) {
    if (isCancellation(error)) throw error;
    // A run that fails would hand no cursor on. DeletionBehind alerts.
    return { ...swept, isDeletionLate: true };
  }
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

export async function booksWorkflow(): Promise<BooksResult> {
  const { reconcileBooks } = within('10m', 'Compare our journal with the wallet at the service');
  const result = await reconcileBooks({ runId: workflowInfo().runId });
  await within('30s', 'Estimate how long the wallet lasts').watchRunway();
  return result;
}

export async function watchWorkflow(): Promise<{ expiring: number; looked: number }> {
  const { announced } = await within('4m', 'Announce what expires soon').announceExpiring();
  const { looked } = await within('4m', 'Read the data usage of eSIMs at the service').readUsage();
  return { expiring: announced, looked };
}

export async function catalogueWorkflow() {
  const { readCatalogue } = within('4m', 'Read packages and VPN plans of the service');
  return readCatalogue({ runId: workflowInfo().runId });
}
