import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import type {
  BooksActivities,
  MaintenanceActivities,
  SweepCursor,
  WatchActivities,
} from '#activities/upkeep/upkeep-types.ts';
import { WORK_KINDS } from '#domain/work/work.ts';
import { HEARTBEAT_TIMEOUT } from '#workflows/activity-options.ts';
import type { BooksResult } from '#workflows/messages.ts';

// Started by a schedule: a run that fails is followed by the next, so a few tries are enough.
const options = { heartbeatTimeout: HEARTBEAT_TIMEOUT, retry: { initialInterval: '2s', maximumAttempts: 3 } } as const;

// What was asked is noted one by one: a run that is cut off has done its part.
const { reconcileSilentWork } = proxyActivities<MaintenanceActivities>({ startToCloseTimeout: '1m', ...options });
const { requestIdleWork, forgetOldAnswers } = proxyActivities<MaintenanceActivities>({
  startToCloseTimeout: '30s',
  ...options,
});

// All pages of the wallet, up to three times while it moves; then one transaction.
const { reconcileBooks } = proxyActivities<BooksActivities>({ startToCloseTimeout: '10m', ...options });

const { watchRunway } = proxyActivities<BooksActivities>({ startToCloseTimeout: '30s', ...options });

// What was looked at is noted one by one: a run that is cut off has done its part.
const { announceExpiring, readUsage } = proxyActivities<WatchActivities>({ startToCloseTimeout: '4m', ...options });

/** Asks the service about everything that has been silent for too long; one reconciler for all work. */
export async function reconcileWorkflow(): Promise<{ asked: number; news: number }> {
  return reconcileSilentWork();
}

/** What a sweep did, and where the next one goes on. */
interface SweepResult {
  readonly requested: number;
  readonly woken: number;
  readonly forgotten: number;
  readonly next?: SweepCursor;
}

/**
 * Makes sure that all unfinished work has a running workflow that has not missed anything, and clears away what nobody
 * needs any more.
 */
export async function sweepWorkflow(): Promise<SweepResult> {
  // A schedule hands the result of its last run to the next one.
  const from = cursorOf(workflowInfo().lastResult);
  const swept = await requestIdleWork(from === undefined ? {} : { from });
  const { forgotten } = await forgetOldAnswers();
  return { ...swept, forgotten };
}

/** @returns undefined, which is the beginning, when the result holds no cursor, or one of another version. */
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
