import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { timeSkippingEnvironment } from '#test/support/servers/time-skipping.ts';
import { FakeOrder } from '#test/support/work/workflows/fake-order.ts';
import { POLICY, withWorker } from '#test/support/work/workflows/order-workflow.ts';
import { orderWorkflow } from '#workflows/order.ts';

let environment: TestWorkflowEnvironment;
beforeAll(async () => {
  environment = await timeSkippingEnvironment();
});

const DAY = 24 * 3_600_000;

describe('an outage of PostgreSQL for a day', () => {
  it('leaves a history of less than 2,000 events; the order is bought once afterwards', async () => {
    const order = new FakeOrder([{ answers: 'completed' }], await environment.currentTimeMs());
    const until = (await environment.currentTimeMs()) + DAY;
    const activities = (now: () => Promise<number>) => {
      const normal = order.activities(now);
      const beginWork: typeof normal.beginWork = async (input) => {
        if ((await now()) < until) throw new Error('connect ECONNREFUSED');
        return normal.beginWork(input);
      };
      return { ...normal, beginWork };
    };
    await withWorker(environment, { activities }, async (taskQueue) => {
      const handle = await environment.client.workflow.start(orderWorkflow, {
        workflowId: `order/${order.orderId}`,
        taskQueue,
        args: [{ work: { kind: 'order', id: order.orderId }, policy: { ...POLICY, holdDeadlineMs: 3 * DAY } }],
      });
      expect(await handle.result()).toMatchObject({ status: 'completed' });
      // After the outage it continues in a new run. The first run contains the outage.
      const first = environment.client.workflow.getHandle(handle.workflowId, handle.firstExecutionRunId);
      const { historyLength } = await first.describe();
      expect(historyLength).toBeGreaterThan(300);
      expect(historyLength).toBeLessThan(2_000);
    });
    expect(order.sent).toHaveLength(1);
  });
});
