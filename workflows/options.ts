import {
  type ActivityOptions,
  ActivityFailure,
  ApplicationFailure,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  setWorkflowOptions,
  type Workflow,
  workflowInfo,
} from '@temporalio/workflow';
import type { PurchasePolicy } from '#domain/policy/purchase-policy.ts';
import type { PurchaseActivities } from '#domain/purchase/results.ts';
import type { TaskPosition } from '#domain/work/lifecycle.ts';
import { READ_TASK_QUEUE, SEND_NOT_BEGUN, WORK_FINISHED, WORK_MISSING } from '#workflows/messages.ts';

/**
 * For activities that are not local. A worker sends three heartbeats in that time (`worker/workers.ts`); a garbage
 * collection or a busy machine delays them for less.
 */
export const HEARTBEAT_TIMEOUT = '10s';

/**
 * Temporal repeats the activity, where operators see it. `deadlines` is the time of one try, in deadlines of one call.
 */
export function repeatedRead(policy: PurchasePolicy, deadlines: number) {
  return {
    taskQueue: READ_TASK_QUEUE,
    startToCloseTimeout: deadlines * policy.sendDeadlineMs,
    heartbeatTimeout: HEARTBEAT_TIMEOUT,
    scheduleToCloseTimeout: policy.deliveryDeadlineMs,
    retry: { initialInterval: '1s', maximumInterval: '1m' },
  } as const satisfies ActivityOptions;
}

/** Five calls read an order and an eSIM; the sixth deadline is for PostgreSQL. */
const DEADLINES_OF_READS = 6;

type Reads = 'lookUpPurchase' | 'proveAbsence' | 'readDebitEvidence' | 'completePurchase';

/** Activities that read at the service what became of a purchase. */
export function readActivities(policy: PurchasePolicy, summary: string) {
  return proxyActivities<Pick<PurchaseActivities, Reads>>({
    ...repeatedRead(policy, DEADLINES_OF_READS),
    summary,
  });
}

const LOCAL_TIMEOUT_MS = 20_000;

/**
 * Waits between tries are timers of the server, so a waiting workflow occupies no worker. They grow to five minutes:
 * an outage of a day makes less than 2,000 events.
 * A replay compares the types of local activities, so a type is never renamed. Summaries are not compared.
 * @param sendsForMs longest time of a send that it makes.
 */
export function localActivities(summary: string, sendsForMs = 0) {
  return proxyLocalActivities<Pick<PurchaseActivities, 'beginWork' | 'openNextAttempt' | 'recordStep'>>({
    startToCloseTimeout: LOCAL_TIMEOUT_MS + sendsForMs,
    localRetryThreshold: '5s',
    retry: { initialInterval: '200ms', maximumInterval: '5m' },
    summary,
  });
}

/** PostgreSQL refuses a step of an earlier task. */
export function taskPosition(): TaskPosition {
  const { runId, historyLength } = workflowInfo();
  return { runId, historyLength, at: Date.now() };
}

/** @returns `otherwise` when the activity's worker died or its time is over. @throws every other error. */
export async function orWhenGivenUp<Result>(call: Promise<Result>, otherwise: Result): Promise<Result> {
  try {
    return await call;
  } catch (error) {
    rethrowUnlessGivenUp(error);
    return otherwise;
  }
}

/** Returns when the activity's worker died or its time is over. @throws every other error. */
export function rethrowUnlessGivenUp(error: unknown): void {
  if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
  if (finishedFailure(error) !== undefined || isMissing(error)) throw error;
}

/** Local activities do not wrap it. */
export function finishedFailure(error: unknown): ApplicationFailure | undefined {
  return failureOfType(error, WORK_FINISHED);
}

export function isMissing(error: unknown): boolean {
  return failureOfType(error, WORK_MISSING) !== undefined;
}

/** True when the request has not left. */
export function isNotBegun(error: unknown): boolean {
  return failureOfType(error, SEND_NOT_BEGUN) !== undefined;
}

function failureOfType(error: unknown, type: string): ApplicationFailure | undefined {
  const failure = error instanceof ActivityFailure ? error.cause : error;
  return failure instanceof ApplicationFailure && failure.type === type ? failure : undefined;
}

/**
 * The worker declares it in front of the bundle (`worker/bundle.ts`): nothing else tells workflow code which worker
 * runs it. `workflowInfo()` names the version of the replayed task.
 */
export const HAS_VERSION = 'resellerWorkerHasVersion';

/**
 * For types that may run for months; their changes need `patched` (docs/how-to/change-a-workflow.md). Does nothing on
 * workers without a version: the server refuses the result of a task that names a behaviour there.
 */
export function upgradeWithWorkers(workflow: Workflow): void {
  if (HAS_VERSION in globalThis) setWorkflowOptions({ versioningBehavior: 'AUTO_UPGRADE' }, workflow);
}
