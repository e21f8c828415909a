import type { ActivityOptions } from '@temporalio/workflow';
import type { PurchasePolicy } from '#domain/policy/purchase-policy.ts';

/**
 * For every activity of ours that is not a local one: how long nothing may be heard of it before Temporal counts it as
 * lost with its worker. A worker beats three times in that time (`worker/health/heartbeat.ts`); longer than a garbage
 * collection or a busy machine keeps it from doing so.
 */
export const HEARTBEAT_TIMEOUT = '10s';

/**
 * How long an activity that reads what was bought may take, in deadlines of one call: it asks for an order by its id
 * and in a list (three deadlines), and for an eSIM; the sixth is for PostgreSQL.
 */
export const DEADLINES_OF_READS = 6;

/**
 * For activities that ask the service and may be repeated as often as it takes: Temporal repeats them, in sight of the
 * operator.
 *
 * @param deadlines how long one attempt may take, in deadlines of one call to the service.
 */
export function repeatedlyAsking(policy: PurchasePolicy, deadlines: number) {
  return {
    startToCloseTimeout: deadlines * policy.sendDeadlineMs,
    heartbeatTimeout: HEARTBEAT_TIMEOUT,
    scheduleToCloseTimeout: policy.deliveryDeadlineMs,
    retry: { initialInterval: '1s', maximumInterval: '1m' },
  } as const satisfies ActivityOptions;
}
