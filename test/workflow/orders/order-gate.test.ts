import { describe, expect, it } from 'vitest';
import type { FailureClass } from '#domain/work/failure.ts';
import { timeSkippingEnvironment } from '#test/support/servers/time-skipping.ts';
import { POLICY, orderWith, resultOf, withOrder, shownAfter } from '#test/support/work/workflows/order-workflow.ts';
import { operatorActedSignal, releaseUpdate } from '#workflows/messages.ts';

const environment = await timeSkippingEnvironment();

const MINUTE = 60_000;
/** The gate holds the send, and is to be asked again after some minutes. */
const gated = (failure: FailureClass, minutes: number) => ({ gated: failure, recheckMs: minutes * MINUTE });

describe('an order at the purchase gate', () => {
  it('waits under the name of its hold reason, shows the next step, and continues when woken', async () => {
    const order = await orderWith([gated('service_down', 10), 'answers completed']);
    const began = await environment.currentTimeMs();
    await withOrder(order, {}, async (handle) => {
      expect(await shownAfter(MINUTE, handle)).toMatchObject({
        status: 'held',
        failure: 'service_down',
        now: 'Held at the purchase gate: The gate is closed.',
        next: expect.stringMatching(/^The gate releases held purchases afterwards, oldest first/),
        nextStepAt: expect.any(Number),
        resubmission: { verdict: 'not_needed' },
      });
      await handle.signal(operatorActedSignal);
      expect((await handle.result()).status).toBe('completed');
    });
    expect(order.sent).toHaveLength(1);
    expect(order.sent[0]!.at - began).toBeLessThan(9 * MINUTE);
  });

  it('checks the gate again by its own timer if it is not woken', async () => {
    const paused = gated('purchases_paused', 10);
    const order = await orderWith([paused, paused, 'answers completed']);
    const began = await environment.currentTimeMs();
    await resultOf(order);
    expect(order.sent[0]!.at - began).toBeGreaterThanOrEqual(20 * MINUTE);
    expect(order.steps.filter(({ status }) => status === 'held')).toHaveLength(2);
  });

  it('fails at its deadline without a send if the gate stays closed longer', async () => {
    const order = await orderWith([gated('spend_limit_reached', 12 * 60)]);
    order.deadlineAt = (await environment.currentTimeMs()) + 60 * MINUTE;
    const result = await resultOf(order);
    expect(result).toMatchObject({ status: 'failed', failure: 'spend_limit_reached', endedBy: 'deadline_passed' });
    expect(order.sent).toEqual([]);
  });

  it('with an unknown send is not held after its window, but looked up', async () => {
    const down = gated('service_down', 60);
    const order = await orderWith([{ fails: 'timeout' }, down, down], { lookUps: ['found completed'] });
    expect((await resultOf(order)).status).toBe('completed');
    expect(order.sent).toHaveLength(1);
    expect(order.steps.map(({ status }) => status)).not.toContain('held');
    // Callers see the result of the send, not the reason of the gate. "Nothing was sent" would be wrong.
    const resends = order.steps.filter(({ event }) => event === 'attempt.resend_planned');
    expect(resends.map(({ failure }) => failure?.class)).toEqual(['timeout', 'timeout']);
    expect((await environment.currentTimeMs()) - order.sent[0]!.at).toBeGreaterThanOrEqual(POLICY.resendWindowMs);
  });

  it('is sent when an operator releases it, which is possible only while it is held', async () => {
    const order = await orderWith([gated('purchases_paused', 600), 'answers processing']);
    await withOrder(order, {}, async (handle) => {
      await environment.sleep(MINUTE);
      await handle.executeUpdate(releaseUpdate, { args: [{ by: 'Ada', reason: 'Urgent.' }] });
      await environment.sleep(MINUTE);
      expect(order.sent).toHaveLength(1);
      const again = handle.executeUpdate(releaseUpdate, { args: [{ by: 'Ada', reason: '' }] });
      await expect(again).rejects.toMatchObject({ name: 'WorkflowUpdateFailedError' });
    });
    expect(order.acts).toEqual([{ action: 'release' }]);
  });
});
