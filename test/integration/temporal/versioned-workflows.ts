/** Workflows that tell which version of the workers runs their activities. */
import { condition, defineSignal, proxyActivities, setHandler } from '@temporalio/workflow';
import { READ_TASK_QUEUE } from '#workflows/messages.ts';
import { upgradeWithWorkers } from '#workflows/options.ts';

export interface VersionActivities {
  /** Notes that a run had an activity, with the version of the worker. */
  note(workflow: string): Promise<void>;
}

// On another task queue than the workflows.
const { note } = proxyActivities<VersionActivities>({ taskQueue: READ_TASK_QUEUE, startToCloseTimeout: '30s' });

/** Does one activity. */
export const workSignal = defineSignal('work');

export async function pinnedWorkflow(name: string): Promise<void> {
  let wanted = 1;
  setHandler(workSignal, () => void (wanted += 1));
  for (let done = 0; ; done += 1) {
    await condition(() => wanted > done);
    await note(name);
  }
}

export async function upgradingWorkflow(name: string): Promise<void> {
  await pinnedWorkflow(name);
}
upgradeWithWorkers(upgradingWorkflow);
