import type { Context } from '@temporalio/activity';
import type { ActivityInterceptors, WorkerOptions } from '@temporalio/worker';

/** Beats in the time after which Temporal gives an activity up: one may be late, and one may be lost. */
const BEATS_PER_TIMEOUT = 3;

/**
 * Worker options without which the beats do not reach the server: the SDK holds beats back for 80 % of the heartbeat
 * timeout, so that one lost beat would end the activity. One second is shorter than the time between two beats of every
 * timeout of 3 s or more.
 */
export const HEARTBEAT_OPTIONS = { maxHeartbeatThrottleInterval: '1s' } as const satisfies Partial<WorkerOptions>;

/**
 * Lets every activity that has a heartbeat timeout beat for as long as it runs, so that Temporal soon notices an
 * activity that nobody works on any more: its worker died, or its task was handed to a worker that was just stopping.
 * Without it, that shows only when the activity's whole time is over.
 *
 * A worker that was wrongly given up (it lost its connection to Temporal, say) works on; a second execution beside it
 * does no harm, since every activity may run twice and a send has a lease in the database.
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
