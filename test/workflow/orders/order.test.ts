import type { WorkflowHandle } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import type { PurchasePolicy } from '#domain/policy/purchase-policy.ts';
import { FAILURE_CLASSES } from '#domain/work/failure.ts';
import { timeSkippingEnvironment } from '#test/support/servers/time-skipping.ts';
import { waitFor } from '#test/support/wait-for.ts';
import type { FakeOrder, ScriptedSend } from '#test/support/work/workflows/fake-order.ts';
import {
  needsAttention,
  orderWith,
  POLICY,
  report,
  resultOf,
  shownAfter,
  startOrder,
  withOrder,
  withWorker,
} from '#test/support/work/workflows/order-workflow.ts';
import { explainQuery } from '#workflows/messages.ts';

const environment = await timeSkippingEnvironment();

const TIMEOUT = { fails: 'timeout' } as const;

async function complete(order: FakeOrder, handle: WorkflowHandle): Promise<void> {
  order.observe('completed');
  await report(handle, { inboxId: '8' });
}

describe('an order', () => {
  it.each([
    ['the next activity', false, ['beginWork', 'completePurchase']],
    ['the activity of its send', true, ['beginWork']],
  ])('completed at once by the service is sent once, and delivered by %s', async (_which, deliversAtOnce, calls) => {
    const order = await orderWith(['answers completed'], { deliversAtOnce });
    const explained = await withOrder(order, {}, async (handle) => {
      expect(await handle.result()).toMatchObject({ status: 'completed', esimId: 'esim_1' });
      return handle.query(explainQuery);
    });
    expect(explained).toMatchObject({ status: 'completed', now: 'The eSIM esim_1 was delivered.' });
    expect(order.sent).toHaveLength(1);
    expect(order.calls).toEqual(calls);
  });

  it('that stays in progress is looked up for a week, and needs attention without a result', async () => {
    const order = await orderWith(['answers processing']);
    order.lookUps = Array.from({ length: 40 }, () => 'found processing');
    await withOrder(order, {}, async (handle) => {
      await environment.sleep('8 days');
      // After 1, 2, … 128 hours and after a week, when the wait begins again: after 1, 2, … 16 hours.
      expect(order.timesCalled('lookUpPurchase')).toBe(14);
      expect(await handle.query(explainQuery)).toMatchObject({ status: 'processing' });
      order.lookUps = [];
      expect(await shownAfter('7 days', handle)).toMatchObject(needsAttention('outcome_unknown'));
      await complete(order, handle);
      expect((await handle.result()).status).toBe('completed');
    });
    expect(order.sent).toHaveLength(1);
  });

  it('whose webhook arrives before the HTTP answer is not sent twice', async () => {
    const order = await orderWith([TIMEOUT]);
    await withOrder(order, {}, async (handle) => {
      await waitFor('it is sent', () => order.sent.length === 1);
      await complete(order, handle);
      expect((await handle.result()).status).toBe('completed');
    });
    expect(order.sent).toHaveLength(1);
  });

  it('counts a repeated delivery once', async () => {
    const order = await orderWith(['answers processing']);
    await withOrder(order, {}, async (handle) => {
      for (let time = 1; time <= 2; time += 1) {
        await report(handle, { inboxId: '7', outcome: 'processing' });
        await environment.sleep('1 minute');
      }
      await complete(order, handle);
      await handle.result();
    });
    expect(order.steps.flatMap(({ applied }) => applied)).toEqual(['7']);
    expect(order.timesCalled('completePurchase')).toBe(1);
  });

  it('with a final refusal fails without another send', async () => {
    const order = await orderWith([{ fails: 'invalid_request' }]);
    expect(await resultOf(order)).toMatchObject({ status: 'failed', failure: 'invalid_request' });
    expect(order.sent).toHaveLength(1);
    expect(order.steps.at(-1)).toMatchObject({ status: 'failed', failure: { class: 'invalid_request' } });
  });
});

describe('an unknown outcome', () => {
  it.each<[string, ScriptedSend[], number, Partial<PurchasePolicy>?]>([
    ['is sent again inside the window and completes', [TIMEOUT, { fails: 'server_error' }, 'answers completed'], 3],
    ['is not sent again, but looked up, if its resend waited too long for a worker', [TIMEOUT, 'comes too late'], 1],
    ['is not sent again, but looked up, if resends were revoked since it began', [TIMEOUT, 'is revoked'], 1],
    ['is never sent again if the service may not replay keys', [TIMEOUT], 1, { resendAllowed: false }],
    [
      'stays unknown after a refusal, which may be about our own first purchase',
      [TIMEOUT, { fails: 'insufficient_balance' }, 'answers completed'],
      3,
    ],
    ['of a killed worker is handled like any other', ['dies after the send', 'answers completed'], 2],
    [
      'of no send, because its worker was killed before, leads to the send',
      ['dies before the send', 'answers completed'],
      1,
    ],
  ])('%s', async (_what, sends, sent, policy) => {
    const order = await orderWith(sends, { lookUps: ['found completed'] });
    expect(await resultOf(order, policy)).toMatchObject({ status: 'completed' });
    expect(order.sent.map(({ attempt }) => attempt)).toEqual(Array.from({ length: sent }, () => 1));
    for (const { status } of order.steps) expect(['submitting', 'processing']).toContain(status);
  });

  it('is never sent again after the window; a look-up and a case follow', async () => {
    const order = await orderWith(Array.from({ length: 40 }, () => TIMEOUT));
    await withOrder(order, {}, async (handle) => {
      expect(await shownAfter('2 days', handle)).toMatchObject(needsAttention('outcome_unknown'));
    });
    const [first] = order.sent;
    for (const { at } of order.sent) expect(at - (first?.at ?? 0)).toBeLessThanOrEqual(POLICY.resendWindowMs);
    expect(order.sent.length).toBeGreaterThan(2);
    expect(order.timesCalled('lookUpPurchase')).toBe(POLICY.lookUps);
  });

  it('that look-ups find without settling it becomes a case after some look-ups', async () => {
    const order = await orderWith([TIMEOUT]);
    let lookUps = 0;
    order.change = (fakes) => ({
      lookUpPurchase: async (input) => {
        lookUps += 1;
        // A loop without waits would stop the time of all tests.
        return lookUps > 100 ? fakes.lookUpPurchase(input) : { kind: 'found', outcome: 'processing' };
      },
    });
    await withOrder(order, { resendAllowed: false }, async (handle) => {
      expect(await shownAfter('1 hour', handle)).toMatchObject(needsAttention('outcome_unknown'));
    });
    expect(lookUps).toBe(POLICY.lookUps);
  });
});

it('a send waits while another send has the lease', async () => {
  const order = await orderWith([{ leasedForMs: 20_000 }, 'answers completed']);
  const begun = await environment.currentTimeMs();
  await resultOf(order);
  expect((order.sent[0]?.at ?? 0) - begun).toBeGreaterThanOrEqual(20_000);
});

describe('held work', () => {
  it('fails with its former cause when a later send misses the deadline', async () => {
    const order = await orderWith([{ fails: 'insufficient_balance', retryAfterMs: 60_000 }, 'misses the deadline']);
    expect(await resultOf(order)).toMatchObject({ status: 'failed', failure: 'insufficient_balance' });
    const detail = 'The deadline passed before it was sent again: It was insufficient_balance.';
    const ended = { class: 'insufficient_balance', detail, endedBy: 'deadline_passed' };
    expect(order.steps.at(-1)?.failure).toEqual(ended);
  });

  it('fails with the deadline as its cause when it was never sent', async () => {
    const order = await orderWith(['misses the deadline']);
    await resultOf(order);
    const { meaning: detail } = FAILURE_CLASSES.deadline_passed;
    const ended = { class: 'deadline_passed', detail, endedBy: 'deadline_passed' };
    expect(order.steps.at(-1)?.failure).toEqual(ended);
  });
});

describe('a new run', () => {
  it('ends at once if the order has ended', async () => {
    const order = await orderWith([], { finished: { status: 'completed', esimId: 'esim_9' } });
    expect(await resultOf(order)).toMatchObject({ status: 'completed', esimId: 'esim_9' });
  });

  it('delivers an earlier purchase, and sends nothing', async () => {
    const order = await orderWith();
    order.observe('completed');
    expect((await resultOf(order)).status).toBe('completed');
    expect(order.sent).toHaveLength(0);
  });

  it('shows needs_attention while it looks the order up again', async () => {
    const order = await orderWith([TIMEOUT]);
    await withWorker(order, async (taskQueue) => {
      const first = await startOrder(order, taskQueue, { resendAllowed: false });
      await environment.sleep('1 hour');
      await first.terminate();
      const lookUps = order.timesCalled('lookUpPurchase');
      const handle = await startOrder(order, taskQueue, { resendAllowed: false });
      // Between the first look-up and the next.
      await environment.sleep(POLICY.resendDelayMs / 2);
      expect(order.timesCalled('lookUpPurchase')).toBeLessThan(2 * lookUps);
      const shown = { ...needsAttention('outcome_unknown'), failure: 'timeout' };
      expect(await handle.query(explainQuery)).toMatchObject(shown);
    });
    expect(order.sent).toHaveLength(1);
  });
});
