import {
  type Client,
  ScheduleAlreadyRunning,
  type ScheduleOptions,
  ScheduleOverlapPolicy,
  WorkflowIdConflictPolicy,
} from '@temporalio/client';
import { settlesWithin } from '#telemetry/waiting.ts';
import {
  BOOKS_BY_HAND,
  type BooksResult,
  MAINTENANCE_RUN_TIMEOUT_MS,
  MAINTENANCE_WORKFLOWS,
  TASK_QUEUE,
} from '#workflows/messages.ts';

/** The ids of their workflows begin with them. */
export const SCHEDULE_IDS = ['reconcile', 'sweep', 'books', 'watch', 'catalogue'] as const;
export type ScheduleId = (typeof SCHEDULE_IDS)[number];

export type Intervals = Readonly<Record<ScheduleId, { readonly everyMs: number }>>;

/** Intervals of Temporal are whole seconds. */
const SHORTEST_INTERVAL_MS = 1_000;

/** The shortest that Temporal allows: one run does the work of all missed ones. */
const CATCH_UP_WINDOW_MS = 10_000;

const SUMMARIES: Readonly<Record<ScheduleId, string>> = {
  reconcile: 'Looks up silent work at the service',
  books: 'Compares our books with the wallet at the service',
  watch: 'Announces eSIMs and subscriptions that run out of data or time',
  catalogue: 'Reads the packages and VPN plans of the service',
  sweep: 'Restarts unfinished orders that have no running workflow',
};

/** May run in several workers at once. Keeps a pause of an operator. */
export async function ensureSchedules(client: Client, intervals: Intervals): Promise<void> {
  for (const id of SCHEDULE_IDS) await ensureSchedule(client, wantedSchedule(id, intervals[id].everyMs));
}

function wantedSchedule(id: ScheduleId, everyMs: number) {
  return {
    scheduleId: id,
    spec: { intervals: [{ every: Math.max(SHORTEST_INTERVAL_MS, Math.round(everyMs / 1_000) * 1_000) }] },
    action: {
      type: 'startWorkflow',
      workflowType: MAINTENANCE_WORKFLOWS[id],
      workflowId: id,
      taskQueue: TASK_QUEUE,
      workflowRunTimeout: MAINTENANCE_RUN_TIMEOUT_MS,
      staticSummary: SUMMARIES[id],
    },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: CATCH_UP_WINDOW_MS },
  } as const satisfies ScheduleOptions;
}

async function ensureSchedule(client: Client, wanted: ReturnType<typeof wantedSchedule>): Promise<void> {
  try {
    await client.schedule.create(wanted);
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    const handle = client.schedule.getHandle(wanted.scheduleId);
    const { spec, action } = await handle.describe();
    // Every start of a worker gets here.
    const intervals = spec.intervals ?? [];
    const isUnchanged =
      intervals.length === 1 &&
      intervals[0]?.every === wanted.spec.intervals[0].every &&
      action.workflowRunTimeout === wanted.action.workflowRunTimeout;
    if (isUnchanged) return;
    await handle.update(({ state }) => ({ ...wanted, state }));
  }
}

/** Joins one that runs already. @param timeoutMs it continues afterwards. @returns undefined: not ended in time. */
export async function compareBooks(client: Client, timeoutMs: number): Promise<BooksResult | undefined> {
  const handle = await client.workflow.start<() => Promise<BooksResult>>(MAINTENANCE_WORKFLOWS.books, {
    workflowId: BOOKS_BY_HAND,
    taskQueue: TASK_QUEUE,
    args: [],
    workflowRunTimeout: MAINTENANCE_RUN_TIMEOUT_MS,
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
    staticSummary: 'Compares our books with the wallet at the service, at the request of an operator',
  });
  const waiting = new AbortController();
  const result = client.withAbortSignal(waiting.signal, () => handle.result());
  try {
    return (await settlesWithin(timeoutMs, result)) ? await result : undefined;
  } finally {
    // Otherwise the process would wait for the long poll.
    waiting.abort();
    result.catch(() => undefined);
  }
}
