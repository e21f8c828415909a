import { type ActivityOptions, ActivityFailure, ApplicationFailure, isCancellation } from '@temporalio/workflow';
import type { PurchasePolicy } from '#domain/policy/purchase-policy.ts';
import { READ_TASK_QUEUE, SEND_NOT_BEGUN, WORK_FINISHED, WORK_MISSING } from '#workflows/messages.ts';

/**
 * For activities that are not local. A worker sends three heartbeats in that time (`worker/workers.ts`); a garbage
 * collection or a busy machine delays them for less.
 */
export const HEARTBEAT_TIMEOUT = '10s';

/** Five calls read an order and an eSIM; the sixth deadline is for PostgreSQL. */
export const DEADLINES_OF_READS = 6;

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

/** Returns when the activity's worker died or its time is over. @throws every other error. */
export function requireGivenUp(error: unknown): void {
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
