import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { ApplicationFailure } from '@temporalio/common';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PurchaseActivities, WorkSnapshot } from '#activities/work-types.ts';
import { FakeOrder, POLICY, withOrder, withWorker, type ScriptedSend } from '#test/support/order-workflow.ts';
import { createTimeSkippingEnvironment } from '#test/support/time-skipping.ts';
import type { Witness } from '#domain/restored-records.ts';
import { explainQuery, WORK_MISSING } from '#workflows/messages.ts';
import { orderWorkflow } from '#workflows/order.ts';

let environment: TestWorkflowEnvironment;
beforeAll(async () => {
  environment = await createTimeSkippingEnvironment();
});
afterAll(() => environment.teardown());

const orderWith = async (...sends: ScriptedSend[]) => new FakeOrder(sends, await environment.currentTimeMs());

/** The fakes of an order, with another `beginWork`. */
function withBeginning(order: FakeOrder, begin: (input: { witness?: Witness }, next: () => Promise<WorkSnapshot>) => Promise<WorkSnapshot>) {
  return {
    activities: (now: () => Promise<number>): PurchaseActivities => {
      const activities = order.activities(now);
      return { ...activities, beginWork: (input) => begin(input, () => activities.beginWork(input)) };
    },
  };
}

function startOf(order: FakeOrder, taskQueue: string, carried?: { holds: number; witness: Witness }) {
  const work = { kind: 'order', id: order.orderId } as const;
  return environment.client.workflow.start(orderWorkflow, {
    workflowId: `order/${order.orderId}`,
    taskQueue,
    args: [{ work, policy: POLICY, ...(carried !== undefined && { carried }) }],
  });
}

describe('a workflow after PostgreSQL lost commits', () => {
  it('that lost its worker during a send reckons with that send when the database is another one since', async () => {
    const order = await orderWith({ dies: 'before the send' }, { answers: 'completed' });
    const witnesses: (Witness | undefined)[] = [];
    const fake = withBeginning(order, async ({ witness }, next) => {
      witnesses.push(witness);
      return { ...(await next()), epoch: witnesses.length === 1 ? 'before' : 'after' };
    });
    await withWorker(environment, fake, async (taskQueue) => (await startOf(order, taskQueue)).result());
    expect(witnesses.some((each) => each?.sends === 1 && each.anyUnknown && each.state === 'unknown')).toBe(true);
  });

  it('believes a row that says that nothing was sent while the database is the same', async () => {
    const order = await orderWith({ dies: 'before the send' }, { answers: 'completed' });
    const witnesses: (Witness | undefined)[] = [];
    const fake = withBeginning(order, async ({ witness }, next) => {
      witnesses.push(witness);
      return { ...(await next()), epoch: 'same' };
    });
    await withWorker(environment, fake, async (taskQueue) => (await startOf(order, taskQueue)).result());
    expect(witnesses.every((each) => (each?.sends ?? 0) === 0)).toBe(true);
    expect(order.sent).toHaveLength(1);
  });

  it('claims no send by a row that has lost the sends before it', async () => {
    const order = await orderWith({ fails: 'timeout' }, { fails: 'insufficient_balance' });
    order.lookUps = ['found completed'];
    order.losesSendsAfter = 1;
    const result = await withOrder(environment, order, async (start) => (await start()).result());
    expect(result).toMatchObject({ status: 'completed' });
    expect(order.steps.map(({ status }) => status)).not.toContain('held');
  });

  it('without its row waits in the open, over many runs, and goes on when the row is there again', async () => {
    const order = await orderWith({ answers: 'completed' });
    const state = { missing: true };
    const fake = withBeginning(order, async (_input, next) => {
      if (state.missing) throw ApplicationFailure.nonRetryable('it does not exist', WORK_MISSING);
      return next();
    });
    const witness: Witness = { number: 1, state: 'prepared', sends: 0, anyUnknown: false };
    const result = await withWorker(environment, fake, async (taskQueue) => {
      const handle = await startOf(order, taskQueue, { holds: 0, witness });
      await environment.sleep(6 * 3_600_000);
      expect(await handle.query(explainQuery)).toMatchObject({ status: 'needs_attention', attention: 'records_lost', nextStepAt: expect.any(Number) });
      state.missing = false;
      return handle.result();
    });
    expect(result).toMatchObject({ status: 'completed' });
  });

  it('ends once more as it had ended when nothing was bought', async () => {
    const order = await orderWith();
    const witness: Witness = { number: 1, state: 'refused', sends: 1, anyUnknown: false, ended: 'failed', failure: 'invalid_request' };
    const result = await withWorker(environment, order, async (taskQueue) => (await startOf(order, taskQueue, { holds: 0, witness })).result());
    expect(result).toMatchObject({ status: 'failed', failure: 'invalid_request' });
    expect(order.sent).toEqual([]);
  });
});
