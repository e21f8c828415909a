import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { BooksActivities, MaintenanceActivities, WatchActivities } from '#activities/maintenance-types.ts';
import { HEARTBEAT_TIMEOUT } from '#workflows/activity-options.ts';
import type { BooksResult } from '#workflows/messages.ts';

// Started by a schedule: a run that fails is followed by the next, so a few tries are enough.
const options = { heartbeatTimeout: HEARTBEAT_TIMEOUT, retry: { initialInterval: '2s', maximumAttempts: 3 } } as const;

// What was asked is noted one by one: a run that is cut off has done its part.
const { reconcileSilentWork } = proxyActivities<MaintenanceActivities>({ startToCloseTimeout: '1m', ...options });
const { requestIdleWork, forgetOldAnswers } = proxyActivities<MaintenanceActivities>({ startToCloseTimeout: '30s', ...options });

// All pages of the wallet, up to three times while it moves; then one transaction.
const { reconcileBooks } = proxyActivities<BooksActivities>({ startToCloseTimeout: '10m', ...options });

const { watchRunway } = proxyActivities<BooksActivities>({ startToCloseTimeout: '30s', ...options });

// What was looked at is noted one by one: a run that is cut off has done its part.
const { announceExpiring, readUsage } = proxyActivities<WatchActivities>({ startToCloseTimeout: '4m', ...options });

/** Asks the service about everything that has been silent for too long; one reconciler for all work. */
export async function reconcileWorkflow(): Promise<{ asked: number; news: number }> {
  return reconcileSilentWork();
}

/** Makes sure that all unfinished work has a running workflow, and clears away what nobody needs any more. */
export async function sweepWorkflow(): Promise<{ requested: number; forgotten: number }> {
  const { requested } = await requestIdleWork();
  const { forgotten } = await forgetOldAnswers();
  return { requested, forgotten };
}

/** Compares our books with the wallet at the service, and looks how long it lasts. */
export async function booksWorkflow(): Promise<BooksResult> {
  const result = await reconcileBooks({ runId: workflowInfo().runId });
  await watchRunway();
  return result;
}

/** Announces what runs out: time from what we know, data from what the service says of some eSIMs. */
export async function watchWorkflow(): Promise<{ expiring: number; looked: number }> {
  const { announced } = await announceExpiring();
  const { looked } = await readUsage();
  return { expiring: announced, looked };
}
