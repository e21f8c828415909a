/** Small workflows for the tests of `platform/temporal/`, with everything that a history can contain. */
import { ApplicationFailure, condition, defineSignal, proxyActivities, setHandler } from '@temporalio/workflow';
import {
  memoryQuery,
  READ_TASK_QUEUE,
  serviceObservedSignal,
  type PurchaseWorkflowInput,
  type PurchaseWorkflowResult,
} from '#workflows/messages.ts';
import { upgradeWithWorkers } from '#workflows/options.ts';

export interface TestActivities {
  echo(text: string): Promise<string>;
  fail(text: string): Promise<void>;
}

export interface LongActivities {
  /** Runs until the test has seen enough heartbeats. */
  beat(): Promise<void>;
}

const { beat } = proxyActivities<LongActivities>({
  startToCloseTimeout: '2m',
  heartbeatTimeout: '4.5s',
  retry: { maximumAttempts: 1 },
});

/** Runs one activity with heartbeats. */
export async function beatingWorkflow(): Promise<void> {
  await beat();
}

const limited = proxyActivities<LongActivities>({ taskQueue: READ_TASK_QUEUE, startToCloseTimeout: '2m' });

/** Runs many activities at once on the task queue of reads. */
export async function readingWorkflow(times: number): Promise<void> {
  await Promise.all(Array.from({ length: times }, () => limited.beat()));
}

const { echo, fail } = proxyActivities<TestActivities>({
  startToCloseTimeout: '30s',
  retry: { maximumAttempts: 1 },
  summary: 'summary with canary-summary',
});

export const noteSignal = defineSignal<[string]>('note');

/** Puts canaries into all user data: arguments, results, signals, summaries, failures and their causes. */
export async function canaryWorkflow(argument: string): Promise<string> {
  let note = '';
  setHandler(noteSignal, (text) => void (note = text));
  const echoed = await echo(argument);
  await condition(() => note !== '');
  try {
    await fail(echoed);
  } catch (error) {
    if (!note.includes('end badly')) return `canary-result ${note}`;
    throw ApplicationFailure.create({
      message: 'canary-workflow-failure',
      details: ['canary-detail'],
      nonRetryable: true,
      cause: error as Error,
    });
  }
  throw ApplicationFailure.nonRetryable('the failing activity has not failed');
}

/** Replaces the order workflow: ends at the first report of the service. */
export async function orderWorkflow(input: PurchaseWorkflowInput): Promise<PurchaseWorkflowResult> {
  let heard = 0;
  setHandler(serviceObservedSignal, () => void (heard += 1));
  setHandler(memoryQuery, () => ({ witness: { number: 1, state: 'unknown', sends: 2, anyUnknown: true } }));
  await condition(() => heard > 0);
  return { status: 'completed', esimId: `esim-of-${input.work.id}` };
}

// On another task queue than the workflows.
const versioned = proxyActivities<{ note(workflow: string): Promise<void> }>({
  taskQueue: READ_TASK_QUEUE,
  startToCloseTimeout: '30s',
});

/** Lets a workflow do one activity, which notes the version of its worker. */
export const workSignal = defineSignal('work');

export async function pinnedWorkflow(name: string): Promise<void> {
  let wanted = 1;
  setHandler(workSignal, () => void (wanted += 1));
  for (let done = 0; ; done += 1) {
    await condition(() => wanted > done);
    await versioned.note(name);
  }
}

export async function upgradingWorkflow(name: string): Promise<void> {
  await pinnedWorkflow(name);
}
upgradeWithWorkers(upgradingWorkflow);
