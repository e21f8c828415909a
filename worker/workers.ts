import type { Context } from '@temporalio/activity';
/** The Temporal workers of one process: one for each task queue. */
import { Worker, type NativeConnection, type WorkerOptions, type ActivityInterceptors } from '@temporalio/worker';
import type { WorkerConfig } from '#config/config.ts';
import { inSpan } from '#telemetry/tracing.ts';
import { traceparentIn } from '#temporal/connection.ts';
import { forVersionedWorkers } from '#worker/bundle.ts';
import {
  PURCHASE_TASK_QUEUE,
  READ_TASK_QUEUE,
  TASK_QUEUE,
  UPKEEP_TASK_QUEUE,
  WEBHOOK_TASK_QUEUE,
} from '#workflows/messages.ts';

/** A cached workflow takes about 100 KB. An evicted one is replayed from its history when it is needed again. */
const MAX_CACHED_WORKFLOWS = 300;
/**
 * Tasks go first to the worker that has the workflow in its cache. If that worker has died, its orders wait this long
 * (10 s by default). If it is only busy for longer, the workflow is replayed on another one.
 */
const STICKY_TIMEOUT = '2s';
/** Purchases and reads mostly wait for the service. More of them would only wait for one of its connections. */
const MAX_CALLS = 50;
/** The actions of operators are short. */
const MAX_ACTIONS = 20;
/** Each schedule runs one activity at a time, and an operator may start another comparison of the books. */
const MAX_UPKEEP = 8;
/** Endpoints that are sent to in parallel; each send mostly waits for its receiver. */
const MAX_ENDPOINTS = 20;

export interface WorkersOptions {
  readonly connection: NativeConnection;
  readonly config: Pick<
    WorkerConfig,
    'temporal' | 'shutdownGraceMs' | 'purchasesPerSecond' | 'readsPerSecond' | 'deployment' | 'tracing'
  >;
  readonly workflowBundle: { readonly code: string };
  readonly activities: object;
  readonly webhookActivities: object;
  readonly dataConverter: NonNullable<WorkerOptions['dataConverter']>;
}

/**
 * Creates the workers. Each queue has its own slots: slow receivers of webhooks, look-ups and long upkeep do not delay
 * purchases. The limits hold for all workers of a queue together, because the Temporal server applies them.
 *
 * With a deployment version all workers have it, so that the activities of a pinned run go to the version of the run.
 */
export async function createWorkers(options: WorkersOptions): Promise<Worker[]> {
  const { connection, config, activities, webhookActivities, dataConverter } = options;
  const common: Omit<WorkerOptions, 'taskQueue'> = {
    connection,
    namespace: config.temporal.namespace,
    dataConverter,
    shutdownGraceTime: config.shutdownGraceMs,
    interceptors: { activity: [...(config.tracing === undefined ? [] : [traceActivity]), heartbeat] },
    ...HEARTBEAT_OPTIONS,
    ...versioning(config.deployment),
  };
  const forActivities = (taskQueue: string, slots: number, more: Partial<WorkerOptions> = {}) =>
    Worker.create({ ...common, taskQueue, activities, maxConcurrentActivityTaskExecutions: slots, ...more });
  return Promise.all([
    forActivities(TASK_QUEUE, MAX_ACTIONS, {
      workflowBundle:
        config.deployment === undefined ? options.workflowBundle : forVersionedWorkers(options.workflowBundle),
      maxCachedWorkflows: MAX_CACHED_WORKFLOWS,
      stickyQueueScheduleToStartTimeout: STICKY_TIMEOUT,
    }),
    forActivities(PURCHASE_TASK_QUEUE, MAX_CALLS, limit(config.purchasesPerSecond)),
    forActivities(READ_TASK_QUEUE, MAX_CALLS, limit(config.readsPerSecond)),
    forActivities(UPKEEP_TASK_QUEUE, MAX_UPKEEP),
    forActivities(WEBHOOK_TASK_QUEUE, MAX_ENDPOINTS, { activities: webhookActivities }),
  ]);
}

/** Runs are pinned to the version that began them, but for those of `upgradeWithWorkers`. */
function versioning(version: WorkerConfig['deployment']): Partial<WorkerOptions> {
  if (version === undefined) return {};
  return { workerDeploymentOptions: { version, useWorkerVersioning: true, defaultVersioningBehavior: 'PINNED' } };
}

function limit(perSecond: number | undefined): Partial<WorkerOptions> {
  return perSecond === undefined ? {} : { maxTaskQueueActivitiesPerSecond: perSecond };
}

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

/**
 * Runs each activity in a span of the trace that its workflow hands on. Names are those of Temporal's own tracing
 * packages. An activity of a workflow without a trace, such as upkeep, begins one.
 */
function traceActivity({ info }: Context): ActivityInterceptors {
  const { activityType, activityId, attempt, workflowExecution } = info;
  const attributes = {
    temporalWorkflowId: workflowExecution?.workflowId,
    run_id: workflowExecution?.runId,
    temporalActivityId: activityId,
    temporalAttempt: attempt,
  };
  return {
    inbound: {
      execute: (input, next) =>
        inSpan(`RunActivity:${activityType}`, { parent: traceparentIn(input.headers), attributes }, () => next(input)),
    },
  };
}
