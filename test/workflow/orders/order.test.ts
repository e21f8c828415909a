import { describe, expect, it } from 'vitest';
import type { ServiceObservation } from '#domain/relay/observation.ts';
import { FAILURE_CLASSES } from '#domain/work/failure.ts';
import { waitFor } from '#test/support/wait-for.ts';
import type { ScriptedSend } from '#test/support/work/workflows/fake-order.ts';
import { environment, orderWith, POLICY, resultOf, withOrder } from '#test/support/work/workflows/order-workflow.ts';
import { explainQuery, retryUpdate, serviceObservedSignal } from '#workflows/messages.ts';

const observation = (outcome: ServiceObservation['outcome'], inboxId = '1'): ServiceObservation => ({
  inboxId,
  source: 'webhook',
  attemptNumber: 1,
  outcome,
  decision: 'advance',
});

describe('an order', () => {
  it('completed at once by the service is delivered with one send', async () => {
    const order = await orderWith({ answers: 'completed' });
    expect(await resultOf(order)).toMatchObject({ status: 'completed', esimId: 'esim_1' });
    expect(order.sent).toHaveLength(1);
    expect(order.calls).toEqual(['beginWork', 'completePurchase']);
  });

  it('delivered by the activity of its send ends without another activity', async () => {
    const order = await orderWith({ answers: 'completed' });
    order.deliversAtOnce = true;
    const explained = await withOrder(order, async (start) => {
      const handle = await start();
      expect(await handle.result()).toMatchObject({ status: 'completed', esimId: 'esim_1' });
      return handle.query(explainQuery);
    });
    expect(explained).toMatchObject({ status: 'completed', now: 'The eSIM esim_1 was delivered.' });
    expect(order.sent).toHaveLength(1);
    expect(order.calls).toEqual(['beginWork']);
  });

  it('in progress at the service waits for its webhook, with few look-ups of its own', async () => {
    const order = await orderWith({ answers: 'processing' });
    order.lookUps = Array.from({ length: 10 }, () => 'found processing' as const);
    const result = await withOrder(order, async (start) => {
      const handle = await start();
      await environment.sleep('3 days');
      expect(await handle.query(explainQuery)).toMatchObject({ status: 'processing' });
      order.observe('completed');
      await handle.signal(serviceObservedSignal, observation('completed'));
      return handle.result();
    });
    expect(result.status).toBe('completed');
    expect(order.sent).toHaveLength(1);
    // After 1, 2, 4, … hours.
    expect(order.calls.filter((call) => call === 'lookUpPurchase')).toHaveLength(7);
  });

  it('that stays in progress is looked up for a week, and needs attention without a result', async () => {
    const order = await orderWith({ answers: 'processing' });
    order.lookUps = Array.from({ length: 40 }, () => 'found processing' as const);
    const result = await withOrder(order, async (start) => {
      const handle = await start();
      await environment.sleep('8 days');
      // After 1, 2, … 128 hours and after a week, when the wait begins again: after 1, 2, … 16 hours.
      expect(order.calls.filter((call) => call === 'lookUpPurchase')).toHaveLength(14);
      expect(await handle.query(explainQuery)).toMatchObject({ status: 'processing' });
      order.lookUps = [];
      await environment.sleep('7 days');
      expect(await handle.query(explainQuery)).toMatchObject({
        status: 'needs_attention',
        attention: 'outcome_unknown',
      });
      order.observe('completed');
      await handle.signal(serviceObservedSignal, observation('completed'));
      return handle.result();
    });
    expect(result.status).toBe('completed');
    expect(order.sent).toHaveLength(1);
  });

  it('whose webhook arrives before the HTTP answer is not sent twice', async () => {
    const order = await orderWith({ fails: 'timeout' });
    const result = await withOrder(order, async (start) => {
      const handle = await start();
      await waitFor('it is sent', () => order.sent.length === 1);
      order.observe('completed');
      await handle.signal(serviceObservedSignal, observation('completed'));
      return handle.result();
    });
    expect(result.status).toBe('completed');
    expect(order.sent).toHaveLength(1);
  });

  it('counts a repeated delivery once', async () => {
    const order = await orderWith({ answers: 'processing' });
    await withOrder(order, async (start) => {
      const handle = await start();
      for (let time = 1; time <= 2; time += 1) {
        await handle.signal(serviceObservedSignal, observation('processing', '7'));
        await environment.sleep('1 minute');
      }
      order.observe('completed');
      await handle.signal(serviceObservedSignal, observation('completed', '8'));
      await handle.result();
    });
    expect(order.steps.flatMap(({ applied }) => applied)).toEqual(['7']);
    expect(order.calls.filter((call) => call === 'completePurchase')).toHaveLength(1);
  });

  it('with a final refusal fails without another send', async () => {
    const order = await orderWith({ fails: 'invalid_request' });
    expect(await resultOf(order)).toMatchObject({ status: 'failed', failure: 'invalid_request' });
    expect(order.sent).toHaveLength(1);
    expect(order.steps.at(-1)).toMatchObject({ status: 'failed', failure: { class: 'invalid_request' } });
  });
});

describe('an unknown outcome', () => {
  it('is sent again inside the window and completes', async () => {
    const order = await orderWith({ fails: 'timeout' }, { fails: 'server_error' }, { answers: 'completed' });
    expect(await resultOf(order)).toMatchObject({ status: 'completed' });
    expect(order.sent.map(({ attempt }) => attempt)).toEqual([1, 1, 1]);
  });

  it('is never sent again after the window; a look-up and a case follow', async () => {
    const order = await orderWith(...Array.from({ length: 40 }, (): ScriptedSend => ({ fails: 'timeout' })));
    await withOrder(order, async (start) => {
      const handle = await start();
      await environment.sleep('2 days');
      expect(await handle.query(explainQuery)).toMatchObject({
        status: 'needs_attention',
        attention: 'outcome_unknown',
      });
      await handle.terminate();
    });
    const [first] = order.sent;
    for (const { at } of order.sent) expect(at - (first?.at ?? 0)).toBeLessThanOrEqual(POLICY.resendWindowMs);
    expect(order.sent.length).toBeGreaterThan(2);
    expect(order.calls.filter((call) => call === 'lookUpPurchase')).toHaveLength(POLICY.lookUps);
  });

  it('is not sent again, but looked up, if its resend waited too long for a worker', async () => {
    const order = await orderWith({ fails: 'timeout' }, 'comes too late');
    order.lookUps = ['found completed'];
    expect(await resultOf(order)).toMatchObject({ status: 'completed' });
    expect(order.sent).toHaveLength(1);
  });

  it('is never sent again if the service may not replay keys', async () => {
    const order = await orderWith({ fails: 'connection_lost' });
    order.lookUps = ['found completed'];
    expect(await resultOf(order, { resendAllowed: false })).toMatchObject({ status: 'completed' });
    expect(order.sent).toHaveLength(1);
  });

  it('is not sent again, but looked up, if resends were revoked since it began', async () => {
    const order = await orderWith({ fails: 'timeout' }, 'is revoked');
    order.lookUps = ['found completed'];
    expect(await resultOf(order)).toMatchObject({ status: 'completed' });
    expect(order.sent).toHaveLength(1);
  });

  it('is sent again after refusals that took longer than the window, because refusals start no window', async () => {
    const refused = Array.from({ length: 8 }, () => ({ fails: 'insufficient_balance' }) as const);
    const order = await orderWith(...refused, { fails: 'timeout' }, { answers: 'completed' });
    expect(await resultOf(order)).toMatchObject({ status: 'completed' });
    expect(order.sent.at(-1)!.at - order.sent[0]!.at).toBeGreaterThan(POLICY.resendWindowMs);
    expect(order.sent).toHaveLength(10);
  });

  it('stays unknown after a refusal, which may be about our own first purchase', async () => {
    const order = await orderWith({ fails: 'timeout' }, { fails: 'insufficient_balance' }, { answers: 'completed' });
    expect(await resultOf(order)).toMatchObject({ status: 'completed' });
    expect(order.steps.map(({ status }) => status)).not.toContain('failed');
    expect(order.steps.map(({ status }) => status)).not.toContain('held');
  });

  it('of a killed worker is handled like any other', async () => {
    const order = await orderWith({ dies: 'after the send' }, { answers: 'completed' });
    expect(await resultOf(order)).toMatchObject({ status: 'completed' });
    expect(order.sent).toHaveLength(2);
  });

  it('that needs attention continues with a later report', async () => {
    const order = await orderWith({ fails: 'timeout' });
    const result = await withOrder(order, async (start) => {
      const handle = await start({ resendAllowed: false });
      await environment.sleep('1 day');
      expect(await handle.query(explainQuery)).toMatchObject({ status: 'needs_attention' });
      order.observe('completed');
      await handle.signal(serviceObservedSignal, observation('completed'));
      return handle.result();
    });
    expect(result.status).toBe('completed');
    expect(order.sent).toHaveLength(1);
  });
});

describe('a send', () => {
  it('is repeated if its worker was killed before it', async () => {
    const order = await orderWith({ dies: 'before the send' }, { answers: 'completed' });
    expect(await resultOf(order)).toMatchObject({ status: 'completed' });
    expect(order.sent).toHaveLength(1);
  });

  it('waits while another send has the lease', async () => {
    const order = await orderWith({ leasedForMs: 20_000 }, { answers: 'completed' });
    const begun = await environment.currentTimeMs();
    await resultOf(order);
    expect((order.sent[0]?.at ?? 0) - begun).toBeGreaterThanOrEqual(20_000);
  });
});

describe('held work', () => {
  it('continues by itself, after the wait that the service requested', async () => {
    const order = await orderWith({ fails: 'rate_limited', retryAfterMs: 90_000 }, { answers: 'completed' });
    expect(await resultOf(order)).toMatchObject({ status: 'completed' });
    const [first, second] = order.sent;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(90_000);
    expect(order.steps[0]).toMatchObject({ status: 'held', failure: { class: 'rate_limited' } });
  });

  it('fails at its deadline without a purchase', async () => {
    const order = await orderWith(
      ...Array.from({ length: 400 }, (): ScriptedSend => ({ fails: 'insufficient_balance' })),
    );
    order.deadlineAt = (await environment.currentTimeMs()) + 2 * 3_600_000;
    expect(await resultOf(order)).toMatchObject({
      status: 'failed',
      failure: 'insufficient_balance',
      endedBy: 'deadline_passed',
    });
    expect(await environment.currentTimeMs()).toBeGreaterThanOrEqual(order.deadlineAt);
  });

  it('fails with its former cause when a later send misses the deadline', async () => {
    const order = await orderWith({ fails: 'insufficient_balance', retryAfterMs: 60_000 }, 'misses the deadline');
    expect(await resultOf(order)).toMatchObject({ status: 'failed', failure: 'insufficient_balance' });
    const detail = 'The deadline passed before it was sent again: It was insufficient_balance.';
    const ended = { class: 'insufficient_balance', detail, endedBy: 'deadline_passed' };
    expect(order.steps.at(-1)?.failure).toEqual(ended);
  });

  it('fails with the deadline as its cause when it was never sent', async () => {
    const order = await orderWith('misses the deadline');
    await resultOf(order);
    const { meaning: detail } = FAILURE_CLASSES.deadline_passed;
    const ended = { class: 'deadline_passed', detail, endedBy: 'deadline_passed' };
    expect(order.steps.at(-1)?.failure).toEqual(ended);
  });

  it('is sent at once on an operator’s retry', async () => {
    const order = await orderWith({ fails: 'insufficient_balance', retryAfterMs: 3_600_000 }, { answers: 'completed' });
    await withOrder(order, async (start) => {
      const handle = await start();
      await environment.sleep('1 minute');
      await handle.executeUpdate(retryUpdate, { args: [{ by: 'Ada', reason: 'a test' }] });
      await handle.result();
    });
    const [first, second] = order.sent;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeLessThan(3_600_000);
  });
});

describe('a new run', () => {
  it('ends at once if the order has ended', async () => {
    const order = await orderWith();
    order.finished = { status: 'completed', esimId: 'esim_9' };
    expect(await resultOf(order)).toMatchObject({ status: 'completed', esimId: 'esim_9' });
  });

  it('delivers an earlier purchase, and sends nothing', async () => {
    const order = await orderWith();
    order.observe('completed');
    expect(await resultOf(order)).toMatchObject({ status: 'completed' });
    expect(order.sent).toHaveLength(0);
  });

  it('shows needs_attention while it looks the order up again', async () => {
    const order = await orderWith({ fails: 'timeout' });
    await withOrder(order, async (start) => {
      const first = await start({ resendAllowed: false });
      await environment.sleep('1 hour');
      await first.terminate();
      const lookUps = order.calls.filter((call) => call === 'lookUpPurchase').length;
      const handle = await start({ resendAllowed: false });
      // Between the first look-up and the next.
      await environment.sleep(POLICY.resendDelayMs / 2);
      expect(order.calls.filter((call) => call === 'lookUpPurchase').length).toBeLessThan(2 * lookUps);
      expect(await handle.query(explainQuery)).toMatchObject({
        status: 'needs_attention',
        attention: 'outcome_unknown',
        failure: 'timeout',
      });
      await handle.terminate();
    });
    expect(order.sent).toHaveLength(1);
  });
});
