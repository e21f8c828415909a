import type { ActivityOptions } from '@temporalio/workflow';
import type { PurchasePolicy } from '#domain/policy/purchase-policy.ts';
import { READ_TASK_QUEUE } from '#workflows/messages.ts';

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
