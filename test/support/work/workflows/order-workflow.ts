import { randomUUID } from 'node:crypto';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import { inject } from 'vitest';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import type { PurchasePolicy } from '#domain/policy/purchase-policy.ts';
import type { FakeOrder } from '#test/support/work/workflows/fake-order.ts';
import { quietRuntime } from '#test/support/work/workflows/quiet-runtime.ts';
import type { PurchaseWorkflowInput } from '#workflows/messages.ts';
import { orderWorkflow } from '#workflows/order.ts';

quietRuntime();

/** The production bundle of the workflows, shared by all test files. */
export function bundledWorkflows(): { readonly codePath: string } {
  return { codePath: inject('bundledWorkflows') };
}

/** The default policy. Tests use the product's real times, because waits take no time here. */
export const POLICY: PurchasePolicy = DEFAULT_POLICY.purchase;

/** Runs a worker with the fakes while `work` uses its task queue. */
export async function withWorker<Result>(
  environment: TestWorkflowEnvironment,
  fake: { activities(now: () => Promise<number>): object },
  work: (taskQueue: string) => Promise<Result>,
): Promise<Result> {
  const taskQueue = randomUUID();
  const worker = await Worker.create({
    connection: environment.nativeConnection,
    taskQueue,
    workflowBundle: bundledWorkflows(),
    activities: fake.activities(() => environment.currentTimeMs()),
  });
  return worker.runUntil(() => work(taskQueue));
}

/** Runs a worker with the fakes while `work` uses the workflow. */
export async function withOrder<Result>(
  environment: TestWorkflowEnvironment,
  order: FakeOrder,
  work: (start: (policy?: Partial<PurchasePolicy>) => ReturnType<typeof startOrder>) => Promise<Result>,
): Promise<Result> {
  return withWorker(environment, order, (taskQueue) =>
    work((policy = {}) => startOrder(environment, order, taskQueue, policy)),
  );
}

function startOrder(
  environment: TestWorkflowEnvironment,
  order: FakeOrder,
  taskQueue: string,
  policy: Partial<PurchasePolicy>,
) {
  const work = { kind: 'order', id: order.orderId } as const;
  const input: PurchaseWorkflowInput = { work, policy: { ...POLICY, ...policy } };
  return environment.client.workflow.start(orderWorkflow, {
    workflowId: `order/${order.orderId}`,
    taskQueue,
    args: [input],
  });
}
