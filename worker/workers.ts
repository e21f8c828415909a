import type { Context } from '@temporalio/activity';
import { Worker, type NativeConnection, type WorkerOptions, type ActivityInterceptors } from '@temporalio/worker';
import { MAX_FIRST_SENDS } from '#activities/work/work-activities.ts';
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
 * A dead worker delays its cached orders by this time (10 s by default). If it is only busy, another worker replays
 * them.
 */
const STICKY_TIMEOUT = '2s';
/** A first send occupies one while it waits for the service. */
const MAX_WORKFLOW_TASKS = MAX_FIRST_SENDS + 40;
/** Calls mostly wait for the service; more would wait for one of its connections. */
const MAX_CALLS = 50;
const MAX_ACTIONS = 20;
/** Each schedule runs one activity at a time, and an operator may start another comparison of the books. */
const MAX_UPKEEP = 8;
/** Each send mostly waits for its receiver. */
const MAX_ENDPOINTS = 20;

interface WorkersOptions {
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
 * Slots for each queue: slow webhooks, look-ups and upkeep do not delay purchases. Temporal applies the limits to all
 * workers of a queue. All workers have the version, so that activities of a pinned run go to it.
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
      maxConcurrentWorkflowTaskExecutions: MAX_WORKFLOW_TASKS,
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
 * By default the SDK holds heartbeats back for 80 % of the timeout, so that one lost heartbeat ends the activity. One
 * second is shorter than the interval of every timeout of 3 s or more.
 */
export const HEARTBEAT_OPTIONS = { maxHeartbeatThrottleInterval: '1s' } as const satisfies Partial<WorkerOptions>;

/**
 * Without heartbeats Temporal notices a lost activity only after the start-to-close timeout. A second execution at the
 * same time is safe: activities are idempotent, and a send has a lease in the database.
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

/** The names are those of Temporal's own tracing packages. Upkeep has no trace and begins one. */
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
