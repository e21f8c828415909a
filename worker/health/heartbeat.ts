import type { Context } from '@temporalio/activity';
import type { ActivityInterceptors, WorkerOptions } from '@temporalio/worker';

/** Heartbeats in one heartbeat timeout: one may be late, and one may be lost. */
const BEATS_PER_TIMEOUT = 3;

/**
 * Worker options that the heartbeats need. By default the SDK holds them back for 80 % of the heartbeat timeout, and
 * one lost heartbeat would end the activity. One second is shorter than the interval of every timeout of 3 s or more.
 */
export const HEARTBEAT_OPTIONS = { maxHeartbeatThrottleInterval: '1s' } as const satisfies Partial<WorkerOptions>;

/**
 * Sends heartbeats while an activity with a heartbeat timeout runs. Temporal then soon notices an activity without a
 * worker: the worker died, or the task was given to a worker that was stopping. Without heartbeats Temporal notices
 * only after the start-to-close timeout.
 *
 * A worker that only lost its connection continues. A second execution at the same time is safe: every activity is
 * idempotent, and a send has a lease in the database.
 */
export function heartbeat(context: Context): ActivityInterceptors {
  const { heartbeatTimeoutMs } = context.info;
  if (heartbeatTimeoutMs === undefined || heartbeatTimeoutMs === 0) return {};
  return {
    inbound: {
      async execute(input, next) {
        const beat = setInterval(() => context.heartbeat(), heartbeatTimeoutMs / BEATS_PER_TIMEOUT);
        try {
          return await next(input);
        } finally {
          clearInterval(beat);
        }
      },
    },
  };
}
