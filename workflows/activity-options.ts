import { type ActivityOptions, ActivityFailure, ApplicationFailure, isCancellation } from '@temporalio/workflow';
import type { PurchasePolicy } from '#domain/policy/purchase-policy.ts';
import { READ_TASK_QUEUE, SEND_NOT_BEGUN, WORK_FINISHED, WORK_MISSING } from '#workflows/messages.ts';

/**
 * Time without a heartbeat after which Temporal counts an activity as lost with its worker. For every activity that is
 * not a local one. A worker sends three heartbeats in that time (`worker/workers.ts`); a garbage collection or
 * a busy machine delays them for less.
 */
export const HEARTBEAT_TIMEOUT = '10s';

/**
 * Maximum duration of an activity that reads a purchase, as a multiple of the deadline of one call. It reads an order
 * by its id and in a list (three calls), and an eSIM (two calls); the sixth is for PostgreSQL.
 */
export const DEADLINES_OF_READS = 6;

/**
 * Options of activities that call the service and may be repeated. Temporal repeats them, where operators see it.
 *
 * @param deadlines how long one try may take, in deadlines of one call to the service.
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

/**
 * Returns when an activity was given up: its worker died, or its time is over.
 *
 * @throws every other error: a cancellation, the end of the work, work without a row, a bug.
 */
export function requireGivenUp(error: unknown): void {
  if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
  if (finishedFailure(error) !== undefined || isMissing(error)) throw error;
}

/** The failure by which an activity reports that the work has ended. Local activities do not wrap it. */
export function finishedFailure(error: unknown): ApplicationFailure | undefined {
  return failureOfType(error, WORK_FINISHED);
}

/** True when an activity reports that the work has no row. */
export function isMissing(error: unknown): boolean {
  return failureOfType(error, WORK_MISSING) !== undefined;
}

/** True when a sending activity reports that its request has not left. */
export function isNotBegun(error: unknown): boolean {
  return failureOfType(error, SEND_NOT_BEGUN) !== undefined;
}

function failureOfType(error: unknown, type: string): ApplicationFailure | undefined {
  const failure = error instanceof ActivityFailure ? error.cause : error;
  return failure instanceof ApplicationFailure && failure.type === type ? failure : undefined;
}
