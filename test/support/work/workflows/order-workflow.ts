import { randomUUID } from 'node:crypto';
import { activityInfo } from '@temporalio/activity';
import type { WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure, type Duration } from '@temporalio/common';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import { inject } from 'vitest';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import type { PurchasePolicy } from '#domain/policy/purchase-policy.ts';
import type { ServiceObservation } from '#domain/relay/observation.ts';
import type { AttentionReason } from '#domain/work/attention.ts';
import { timeSkippingEnvironment } from '#test/support/servers/time-skipping.ts';
import { FakeOrder, type ScriptedSend } from '#test/support/work/workflows/fake-order.ts';
import { quietRuntime } from '#test/support/work/workflows/quiet-runtime.ts';
import {
  explainQuery,
  type Explanation,
  PURCHASE_TASK_QUEUE,
  type PurchaseWorkflowInput,
  READ_TASK_QUEUE,
  retryUpdate,
  serviceObservedSignal,
} from '#workflows/messages.ts';
import { orderWorkflow } from '#workflows/order.ts';

quietRuntime();

/** The production bundle of the workflows, shared by all test files. */
export function bundledWorkflows(): { readonly codePath: string } {
  return { codePath: inject('bundledWorkflows') };
}

/** The default policy. Tests use the product's real times, because waits take no time here. */
export const POLICY: PurchasePolicy = DEFAULT_POLICY.purchase;

type Activities = ReadonlyMap<string, (...args: unknown[]) => Promise<unknown>>;

/** Fakes by the id of the workflow that uses them. A workflow that is not here yet gets those of the present test. */
const fakesOf = new Map<string, Activities>();
let present: Activities = new Map();
let shared: Promise<string> | undefined;

/**
 * Lets `work` use the fakes on the task queue that it receives, then terminates its workflows. One worker serves all
 * tests of a process, because each start of a worker takes a fifth of a second of processor time. Tests of one process
 * run one after the other.
 */
export async function withWorker<Result>(
  fake: { activities(now: () => Promise<number>): object },
  work: (taskQueue: string) => Promise<Result>,
): Promise<Result> {
  const environment = await timeSkippingEnvironment();
  const taskQueue = await (shared ??= startWorker(environment));
  const fakes: Activities = new Map(Object.entries(fake.activities(() => environment.currentTimeMs())));
  present = fakes;
  try {
    return await work(taskQueue);
  } finally {
    const begun = [...fakesOf].flatMap(([id, used]) => (used === fakes ? [id] : []));
    // Most have ended by themselves.
    await Promise.allSettled(begun.map((id) => environment.client.workflow.getHandle(id).terminate()));
  }
}

/** Starts the worker of this process. @returns its task queue. */
async function startWorker({ nativeConnection: connection }: TestWorkflowEnvironment): Promise<string> {
  const taskQueue = randomUUID();
  const worker = await Worker.create({
    connection,
    taskQueue,
    workflowBundle: bundledWorkflows(),
    // The SDK calls this one for every activity that it does not know by name.
    activities: { default: callFake },
  });
  void worker.run();
  for (const queue of [PURCHASE_TASK_QUEUE, READ_TASK_QUEUE]) {
    const activities = { default: callFake };
    void (await Worker.create({ connection, taskQueue: queue, activities })).run();
  }
  return taskQueue;
}

async function callFake(...args: unknown[]): Promise<unknown> {
  const { activityType, workflowExecution } = activityInfo();
  const id = workflowExecution?.workflowId ?? '';
  const fakes = fakesOf.get(id) ?? present;
  fakesOf.set(id, fakes);
  const activity = fakes.get(activityType);
  if (activity === undefined) throw ApplicationFailure.nonRetryable(`the test has no fake of ${activityType}`);
  return activity(...args);
}

/** @param script how the service and PostgreSQL treat the order. */
export async function orderWith(sends: ScriptedSend[] = [], script: Partial<FakeOrder> = {}): Promise<FakeOrder> {
  return Object.assign(new FakeOrder(sends, await (await timeSkippingEnvironment()).currentTimeMs()), script);
}

type Options = Partial<PurchasePolicy> & Pick<PurchaseWorkflowInput, 'carried' | 'firstSendIn'>;

/** Starts the workflow of the order, whose fakes a worker has while `work` runs. */
export async function withOrder<Result>(
  order: FakeOrder,
  options: Options,
  work: (handle: Awaited<ReturnType<typeof startOrder>>) => Promise<Result>,
): Promise<Result> {
  return withWorker(order, async (taskQueue) => work(await startOrder(order, taskQueue, options)));
}

export async function startOrder({ orderId: id }: FakeOrder, taskQueue: string, options: Options = {}) {
  const { carried, firstSendIn, ...policy } = options;
  const { client } = await timeSkippingEnvironment();
  const input: PurchaseWorkflowInput = { work: { kind: 'order', id }, policy: { ...POLICY, ...policy } };
  return client.workflow.start(orderWorkflow, {
    workflowId: `order/${id}`,
    taskQueue,
    args: [{ ...input, ...(carried !== undefined && { carried }), ...(firstSendIn !== undefined && { firstSendIn }) }],
  });
}

export async function resultOf(order: FakeOrder, options: Options = {}) {
  return withOrder(order, options, (handle) => handle.result());
}

export async function retry(handle: WorkflowHandle): Promise<unknown> {
  return handle.executeUpdate(retryUpdate, { args: [{ by: 'Ada', reason: 'a test' }] });
}

/** What a workflow explains when this time is over. */
export async function shownAfter(time: Duration, handle: WorkflowHandle): Promise<Explanation> {
  await (await timeSkippingEnvironment()).sleep(time);
  return handle.query(explainQuery);
}

/** What work explains that needs attention. */
export const needsAttention = (attention: AttentionReason) => ({ status: 'needs_attention', attention }) as const;

/** Tells a workflow of a report, as the relay does. */
export async function report(handle: WorkflowHandle, of: Partial<ServiceObservation> = {}): Promise<void> {
  const { inboxId = '1', outcome = 'completed', decision = 'advance', ...more } = of;
  const judged = { inboxId, source: 'webhook', attemptNumber: 1, outcome, decision, ...more } as const;
  await handle.signal(serviceObservedSignal, judged);
}
