import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTimeSkippingEnvironment } from '#test/support/servers/time-skipping.ts';
import { FakeOrder, type ScriptedSend } from '#test/support/work/workflows/fake-order.ts';
import { POLICY, withOrder, withWorker } from '#test/support/work/workflows/order-workflow.ts';
import { FakeSubscription, withSubscription } from '#test/support/work/workflows/subscription-workflow.ts';
import { explainQuery, operatorActedSignal } from '#workflows/messages.ts';
import { orderWorkflow } from '#workflows/order.ts';

let environment: TestWorkflowEnvironment;
beforeAll(async () => {
  environment = await createTimeSkippingEnvironment();
});
afterAll(() => environment.teardown());

const HOUR = 3_600_000;
const OUTAGE = 24 * HOUR;
/** The longest wait between two lookUpTimes, and a minute for the lookUpTimes themselves. */
const HEALED_WITHIN = POLICY.lookUpAgainMaxMs + 60_000;
const orderWith = async (...sends: ScriptedSend[]) => new FakeOrder(sends, await environment.currentTimeMs());
const timeouts = (count: number): ScriptedSend[] => Array.from({ length: count }, () => ({ fails: 'server_error' }));
/** Sends of one attempt before its resend window is over: the waits double from 2 s to 2 min, for 10 min. */
const SENDS_IN_WINDOW = 10;

/** What a service does that answers nothing before `until`: its sends fail, and it cannot be asked. */
function duringOutage(
  order: FakeOrder,
  until: number,
  now: () => Promise<number>,
  times: { completedAt?: number } = {},
) {
  const activities = order.activities(now);
  const failure = { class: 'server_error', detail: 'The service answered 503.' } as const;
  const isOut = async () => (await now()) < until;
  return {
    ...activities,
    lookUpPurchase: async (input: Parameters<typeof activities.lookUpPurchase>[0]) =>
      (await isOut()) ? ({ kind: 'unavailable', failure } as const) : activities.lookUpPurchase(input),
    readDebitEvidence: async (input: Parameters<typeof activities.readDebitEvidence>[0]) =>
      (await isOut())
        ? ({ evidence: 'unavailable', mayPass: true, detail: failure.detail } as const)
        : activities.readDebitEvidence(input),
    completePurchase: async (input: Parameters<typeof activities.completePurchase>[0]) => {
      if (await isOut()) return { kind: 'not_yet', reason: 'server_error', detail: failure.detail } as const;
      times.completedAt = await now();
      return activities.completePurchase(input);
    },
  };
}

/** Nobody is told that it goes on each time it is asked about once more. */
function statusesSinceParked({ steps }: FakeOrder): ReadonlySet<string> {
  return new Set(
    steps.slice(steps.findIndex(({ status }) => status === 'needs_attention')).map(({ status }) => status),
  );
}

async function throughOutage(order: FakeOrder) {
  const until = (await environment.currentTimeMs()) + OUTAGE;
  const times: { completedAt?: number } = {};
  const fake = { activities: (now: () => Promise<number>) => duringOutage(order, until, now, times) };
  return withWorker(environment, fake, async (taskQueue) => {
    const handle = await environment.client.workflow.start(orderWorkflow, {
      workflowId: `order/${order.orderId}`,
      taskQueue,
      args: [{ work: { kind: 'order', id: order.orderId }, policy: { ...POLICY, holdDeadlineMs: 72 * HOUR } }],
    });
    await environment.sleep(OUTAGE / 2);
    const explained = await handle.query(explainQuery);
    const { historyLength } = await handle.describe();
    const result = await handle.result();
    return { explained, historyLength, result, healedAfterMs: (times.completedAt ?? Infinity) - until };
  });
}

describe('after an outage of the service of a day', () => {
  it('what could not be looked up is found and delivered, without a person', async () => {
    const order = await orderWith(...timeouts(SENDS_IN_WINDOW));
    order.lookUps = ['found completed'];
    const { explained, historyLength, result, healedAfterMs } = await throughOutage(order);
    expect(explained).toMatchObject({
      status: 'needs_attention',
      attention: 'service_not_answering',
      nextStepAt: expect.any(Number),
    });
    expect(result).toMatchObject({ status: 'completed' });
    expect(healedAfterMs).toBeLessThanOrEqual(HEALED_WITHIN);
    expect(historyLength).toBeLessThan(2_000);
    expect(
      order.steps
        .filter(({ attention }) => attention !== undefined)
        .every(
          ({ attention, nextStepAt }) => attention?.reason === 'service_not_answering' && nextStepAt !== undefined,
        ),
    ).toBe(true);
  });

  it('what the service provably never had is sent again with the same key, and bought once', async () => {
    const order = await orderWith(...timeouts(SENDS_IN_WINDOW), { answers: 'completed' });
    order.absences = ['absent'];
    const { result } = await throughOutage(order);
    expect(result).toMatchObject({ status: 'completed' });
    expect(order.calls).toContain('proveAbsence');
    expect(new Set(order.sent.map(({ attempt }) => attempt))).toEqual(new Set([1]));
  });

  it('what never leaves within the window that a proof gives is tried by growing waits, and a case says so', async () => {
    const order = await orderWith(
      { fails: 'timeout' },
      ...Array.from({ length: 200 }, () => 'comes too late' as const),
    );
    order.absences = Array.from({ length: 200 }, () => 'absent');
    await withOrder(environment, order, async (start) => {
      const handle = await start();
      await environment.sleep(OUTAGE / 2);
      expect(order.steps.at(-1)).toMatchObject({
        status: 'needs_attention',
        attention: { reason: 'service_not_answering' },
      });
      // Fifteen minutes apart at last: 48 in half a day, and a few before.
      const proofs = order.calls.filter((call) => call === 'proveAbsence').length;
      expect(proofs).toBeGreaterThan(30);
      expect(proofs).toBeLessThan(60);
      await handle.terminate();
    });
    expect(order.sent).toHaveLength(1);
  });

  it('what the purchase gate holds back in each window that a proof gives is a case as well', async () => {
    const gated = { gated: 'service_down', recheckMs: POLICY.resendWindowMs } as const;
    const order = await orderWith(
      { fails: 'timeout' },
      ...Array.from({ length: 200 }, () => [gated, 'comes too late'] as const).flat(),
    );
    order.absences = Array.from({ length: 200 }, () => 'absent');
    await withOrder(environment, order, async (start) => {
      const handle = await start({ historyLimit: 100 });
      await environment.sleep(OUTAGE / 4);
      expect(order.steps).toContainEqual(
        expect.objectContaining({
          status: 'needs_attention',
          attention: expect.objectContaining({ reason: 'service_not_answering' }),
        }),
      );
      const proofs = () => order.calls.filter((call) => call === 'proveAbsence').length;
      // A proof, then ten minutes at the gate, then fifteen minutes parked: act in the middle of the last wait.
      const earlier = proofs();
      while (proofs() === earlier) await environment.sleep(60_000);
      await environment.sleep(POLICY.resendWindowMs + POLICY.lookUpAgainMaxMs / 2);
      const before = proofs();
      // An operator need not wait for the next look-up.
      await handle.signal(operatorActedSignal);
      await environment.sleep(POLICY.resendWindowMs / 2);
      expect(proofs()).toBe(before + 1);
      await handle.terminate();
    });
    expect(order.sent).toHaveLength(1);
  });

  it('what the service answers no send of, although it can be asked, is sent by growing waits, and a case says so', async () => {
    const order = await orderWith(...timeouts(1_000));
    order.absences = Array.from({ length: 200 }, () => 'absent');
    await withOrder(environment, order, async (start) => {
      const handle = await start();
      await environment.sleep(OUTAGE / 2);
      expect(order.steps).toContainEqual(
        expect.objectContaining({
          status: 'needs_attention',
          attention: expect.objectContaining({ reason: 'service_not_answering' }),
        }),
      );
      await handle.terminate();
    });
    // Some ten in each window of ten minutes, and a quarter of an hour between two of them.
    expect(order.sent.length).toBeLessThan(SENDS_IN_WINDOW * 40);
  });

  it('what was asked for and is not proven absent waits for a person, and nothing is sent again', async () => {
    const order = await orderWith({ fails: 'contract_drift' });
    const until = (await environment.currentTimeMs()) + OUTAGE;
    const fake = { activities: (now: () => Promise<number>) => duringOutage(order, until, now) };
    await withWorker(environment, fake, async (taskQueue) => {
      const handle = await environment.client.workflow.start(orderWorkflow, {
        workflowId: `order/${order.orderId}`,
        taskQueue,
        args: [{ work: { kind: 'order', id: order.orderId }, policy: POLICY }],
      });
      await environment.sleep(OUTAGE + HOUR);
      expect(await handle.query(explainQuery)).toMatchObject({
        status: 'needs_attention',
        attention: 'outcome_unknown',
      });
      await handle.terminate();
    });
    expect(order.sent).toHaveLength(1);
  });

  it('a failure whose wallet could not be read is settled, and bought anew', async () => {
    const order = await orderWith({ answers: 'failed' }, { answers: 'completed' });
    order.evidence = ['no_debit'];
    const { explained, result } = await throughOutage(order);
    expect(explained).toMatchObject({ status: 'needs_attention', attention: 'service_not_answering' });
    expect(result).toMatchObject({ status: 'completed' });
    expect([...statusesSinceParked(order)].slice(0, 2)).toEqual(['needs_attention', 'held']);
    expect(order.sent.map(({ attempt }) => attempt)).toEqual([1, 2]);
  });

  it('what is bought and could not be read is delivered', async () => {
    const order = await orderWith({ answers: 'completed' });
    const { explained, result, healedAfterMs } = await throughOutage(order);
    expect(explained).toMatchObject({
      status: 'needs_attention',
      attention: 'delivery_unavailable',
      nextStepAt: expect.any(Number),
    });
    expect(result).toMatchObject({ status: 'completed' });
    expect(statusesSinceParked(order)).toEqual(new Set(['needs_attention']));
    expect(healedAfterMs).toBeLessThanOrEqual(HEALED_WITHIN);
  });

  it('a subscription that could not be cancelled is cancelled', async () => {
    const now = await environment.currentTimeMs();
    const subscription = new FakeSubscription(now + 30 * OUTAGE);
    subscription.onCancel = 'fails';
    subscription.change({ cancelRequested: true });
    await withSubscription(environment, subscription, async (running) => {
      await environment.sleep(OUTAGE);
      expect(subscription.attention).toBe('service_not_answering');
      subscription.onCancel = 'accepts';
      await environment.sleep(POLICY.lookUpAgainMaxMs + 60_000);
      expect(subscription.view.cancelAcceptedAt).toBeDefined();
      expect(subscription.status).toBe('cancelling');
      await running.terminate();
    });
  });
});

describe('a workflow that nothing moves for a day', () => {
  it('because what the service said is not judged says so by a case, and its history stays short', async () => {
    const order = await orderWith(...Array.from({ length: 500 }, () => 'is barred' as const), { answers: 'completed' });
    const explained = await withOrder(environment, order, async (start) => {
      const handle = await start({ holdDeadlineMs: 72 * HOUR });
      await environment.sleep(OUTAGE);
      expect((await handle.describe()).historyLength).toBeLessThan(2_000);
      const shown = await handle.query(explainQuery);
      await handle.terminate();
      return shown;
    });
    expect(explained).toMatchObject({ status: 'needs_attention', attention: 'stalled' });
  });

  it('because its sends never begin says so by a case, goes on in new runs, and is sent once when they do', async () => {
    const order = await orderWith(...Array.from({ length: 300 }, () => ({ dies: 'before the send' }) as const), {
      answers: 'completed',
    });
    const result = await withOrder(environment, order, async (start) => {
      const handle = await start({ holdDeadlineMs: 72 * HOUR, historyLimit: 300 });
      const first = await handle.describe();
      await environment.sleep(OUTAGE);
      const latest = await handle.describe();
      expect(latest.historyLength).toBeLessThan(400);
      expect(latest.runId).not.toBe(first.runId);
      return handle.result();
    });
    expect(result).toMatchObject({ status: 'completed' });
    expect(order.sent).toHaveLength(1);
    expect(order.steps.filter(({ attention }) => attention?.reason === 'stalled').length).toBeGreaterThan(0);
  });
});
