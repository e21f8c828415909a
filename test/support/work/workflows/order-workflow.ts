import { randomUUID } from 'node:crypto';
import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { Worker } from '@temporalio/worker';
import { inject } from 'vitest';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import type { PurchasePolicy } from '#domain/policy/purchase-policy.ts';
import { timeSkippingEnvironment } from '#test/support/servers/time-skipping.ts';
import { FakeOrder, type ScriptedSend } from '#test/support/work/workflows/fake-order.ts';
import { quietRuntime } from '#test/support/work/workflows/quiet-runtime.ts';
import { PURCHASE_TASK_QUEUE, READ_TASK_QUEUE, type PurchaseWorkflowInput } from '#workflows/messages.ts';
import { orderWorkflow } from '#workflows/order.ts';

quietRuntime();

/** The server of all workflow tests of this process; waits take no time. */
export const environment = await timeSkippingEnvironment();

/** The production bundle of the workflows, shared by all test files. */
export function bundledWorkflows(): { readonly codePath: string } {
  return { codePath: inject('bundledWorkflows') };
}

/** The default policy. Tests use the product's real times, because waits take no time here. */
export const POLICY: PurchasePolicy = DEFAULT_POLICY.purchase;

/** Activities of a test. */
interface Fake {
  activities(now: () => Promise<number>): object;
}

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
export async function withWorker<Result>(fake: Fake, work: (taskQueue: string) => Promise<Result>): Promise<Result> {
  const taskQueue = await (shared ??= startWorker());
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
async function startWorker(): Promise<string> {
  const { nativeConnection: connection } = environment;
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

/** An order that was accepted now, with the results of its sends. */
export async function orderWith(...sends: ScriptedSend[]): Promise<FakeOrder> {
  return new FakeOrder(sends, await environment.currentTimeMs());
}

/** Starts the workflow of an order. @param more parts of its input. */
export function startOrder({ orderId }: FakeOrder, taskQueue: string, more: Partial<PurchaseWorkflowInput> = {}) {
  return environment.client.workflow.start(orderWorkflow, {
    workflowId: `order/${orderId}`,
    taskQueue,
    args: [{ work: { kind: 'order', id: orderId }, policy: POLICY, ...more }],
  });
}

/** Lets `work` start the workflow of an order. @param fake its activities, if some of them are changed. */
export async function withOrder<Result>(
  order: FakeOrder,
  work: (start: (policy?: Partial<PurchasePolicy>) => ReturnType<typeof startOrder>) => Promise<Result>,
  fake: Fake = order,
): Promise<Result> {
  return withWorker(fake, (taskQueue) =>
    work((policy = {}) => startOrder(order, taskQueue, { policy: { ...POLICY, ...policy } })),
  );
}

/** The result of the workflow of an order. @param fake as above. */
export async function resultOf(order: FakeOrder, policy?: Partial<PurchasePolicy>, fake?: Fake) {
  return withOrder(order, async (start) => (await start(policy)).result(), fake);
}
