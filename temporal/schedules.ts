import { ScheduleAlreadyRunning, ScheduleOverlapPolicy, type Client, type ScheduleOptions } from '@temporalio/client';
import { MAINTENANCE_WORKFLOWS, TASK_QUEUE } from '#workflows/messages.ts';

/** What Temporal starts for us again and again; ids of the schedules, and the beginnings of their workflows' ids. */
export const SCHEDULE_IDS = ['reconcile', 'sweep', 'books', 'watch'] as const;
export type ScheduleId = (typeof SCHEDULE_IDS)[number];

/** How often each of them is due, in milliseconds; the product's policy has this form. */
export type Intervals = Readonly<Record<ScheduleId, { readonly everyMs: number }>>;

/** Temporal counts in whole seconds here. */
const SHORTEST_INTERVAL_MS = 1_000;

/**
 * Runs missed while Temporal was down are not made up for: one run does what all of them would have. The shortest
 * window that Temporal allows.
 */
const CATCH_UP_WINDOW_MS = 10_000;

const SUMMARIES: Readonly<Record<ScheduleId, string>> = {
  reconcile: 'Asks the service about work it has been silent about',
  books: 'Compares our books with the wallet at the service',
  watch: 'Announces eSIMs and subscriptions whose data or time runs out',
  sweep: 'Restarts unfinished orders that have no running workflow',
};

/**
 * Creates the schedules, or gives those that exist these intervals. May run in several workers at once. An operator's
 * pause stays.
 */
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
    const { spec } = await handle.describe();
    // Every start of a worker comes here: what is right already is not written again.
    const intervals = spec.intervals ?? [];
    if (intervals.length === 1 && intervals[0]?.every === wanted.spec.intervals[0].every) return;
    await handle.update(({ state }) => ({ ...wanted, state }));
  }
}
