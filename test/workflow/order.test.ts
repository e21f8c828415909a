import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ServiceObservation } from '#domain/relay/service-observation.ts';
import { createTimeSkippingEnvironment } from '#test/support/servers/time-skipping.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { FakeOrder, type ScriptedSend } from '#test/support/work/workflows/fake-order.ts';
import { POLICY, withOrder } from '#test/support/work/workflows/order-workflow.ts';
import { explainQuery, retryUpdate, serviceObservedSignal } from '#workflows/messages.ts';

let environment: TestWorkflowEnvironment;
beforeAll(async () => {
  environment = await createTimeSkippingEnvironment();
});
afterAll(() => environment.teardown());

const orderWith = async (...sends: ScriptedSend[]) => new FakeOrder(sends, await environment.currentTimeMs());
const observation = (outcome: ServiceObservation['outcome'], inboxId = '1'): ServiceObservation => ({
  inboxId,
  source: 'webhook',
  attemptNumber: 1,
  outcome,
  decision: 'advance',
});

describe('an order', () => {
  it('that the service completes at once is delivered with one send [spec: state.order.completed]', async () => {
    const order = await orderWith({ answers: 'completed' });
    const result = await withOrder(environment, order, async (start) => (await start()).result());
    expect(result).toMatchObject({ status: 'completed', esimId: 'esim_1' });
    expect(order.sent).toHaveLength(1);
    expect(order.calls).toEqual(['beginWork', 'completePurchase']);
  });

  it('in progress at the service waits for its webhook and asks for nothing meanwhile [spec: state.order.processing]', async () => {
    const order = await orderWith({ answers: 'processing' });
    const result = await withOrder(environment, order, async (start) => {
      const handle = await start();
      await environment.sleep('3 days');
      expect(await handle.query(explainQuery)).toMatchObject({ status: 'processing' });
      order.observe('completed');
      await handle.signal(serviceObservedSignal, observation('completed'));
      return handle.result();
    });
    expect(result.status).toBe('completed');
    expect(order.sent).toHaveLength(1);
    expect(order.calls).not.toContain('lookUpPurchase');
  });

  it('that stays in progress is asked for after a week, and parked where the service cannot say', async () => {
    const order = await orderWith({ answers: 'processing' });
    order.lookUps = ['found processing'];
    const result = await withOrder(environment, order, async (start) => {
      const handle = await start();
      await environment.sleep('8 days');
      expect(order.calls.filter((call) => call === 'lookUpPurchase')).toHaveLength(1);
      expect(await handle.query(explainQuery)).toMatchObject({ status: 'processing' });
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

  it('whose webhook comes before the HTTP answer is not sent twice', async () => {
    const order = await orderWith({ fails: 'timeout' });
    const result = await withOrder(environment, order, async (start) => {
      const handle = await start();
      await waitFor('it is sent', () => order.sent.length === 1);
      order.observe('completed');
      await handle.signal(serviceObservedSignal, observation('completed'));
      return handle.result();
    });
    expect(result.status).toBe('completed');
    expect(order.sent).toHaveLength(1);
  });

  it('takes the same delivery twice as one [spec: gap.redelivery]', async () => {
    const order = await orderWith({ answers: 'processing' });
    await withOrder(environment, order, async (start) => {
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

  it('that is refused for good fails without another send', async () => {
    const order = await orderWith({ fails: 'invalid_request' });
    const result = await withOrder(environment, order, async (start) => (await start()).result());
    expect(result).toMatchObject({ status: 'failed', failure: 'invalid_request' });
    expect(order.sent).toHaveLength(1);
    expect(order.steps.at(-1)).toMatchObject({ status: 'failed', failure: { class: 'invalid_request' } });
  });
});

describe('an unknown outcome', () => {
  it('is sent again inside the window and completes', async () => {
    const order = await orderWith({ fails: 'timeout' }, { fails: 'server_error' }, { answers: 'completed' });
    const result = await withOrder(environment, order, async (start) => (await start()).result());
    expect(result.status).toBe('completed');
    expect(order.sent.map(({ attempt }) => attempt)).toEqual([1, 1, 1]);
  });

  it('is never sent again once the window has passed; it is looked up, then parked [spec: gap.key-retention]', async () => {
    const order = await orderWith(...Array.from({ length: 40 }, (): ScriptedSend => ({ fails: 'timeout' })));
    await withOrder(environment, order, async (start) => {
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

  it('whose resend waited too long for a worker is not sent again, but looked up', async () => {
    const order = await orderWith({ fails: 'timeout' }, 'comes too late');
    order.lookUps = ['found completed'];
    const result = await withOrder(environment, order, async (start) => (await start()).result());
    expect(result.status).toBe('completed');
    expect(order.sent).toHaveLength(1);
  });

  it('is not sent again at all where the service may not replay keys', async () => {
    const order = await orderWith({ fails: 'connection_lost' });
    order.lookUps = ['found completed'];
    const result = await withOrder(environment, order, async (start) =>
      (await start({ resendAllowed: false })).result(),
    );
    expect(result.status).toBe('completed');
    expect(order.sent).toHaveLength(1);
  });

  it('followed by a refusal stays unknown: the refusal may be about our own first purchase', async () => {
    const order = await orderWith({ fails: 'timeout' }, { fails: 'insufficient_balance' }, { answers: 'completed' });
    const result = await withOrder(environment, order, async (start) => (await start()).result());
    expect(result.status).toBe('completed');
    expect(order.steps.map(({ status }) => status)).not.toContain('failed');
    expect(order.steps.map(({ status }) => status)).not.toContain('held');
  });

  it('left by a dead worker is treated like any other', async () => {
    const order = await orderWith({ dies: 'after the send' }, { answers: 'completed' });
    const result = await withOrder(environment, order, async (start) => (await start()).result());
    expect(result.status).toBe('completed');
    expect(order.sent).toHaveLength(2);
  });

  it('that is parked goes on when the service speaks after all', async () => {
    const order = await orderWith({ fails: 'timeout' });
    const result = await withOrder(environment, order, async (start) => {
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
  it('of a worker that died before it began is made up for', async () => {
    const order = await orderWith({ dies: 'before the send' }, { answers: 'completed' });
    const result = await withOrder(environment, order, async (start) => (await start()).result());
    expect(result.status).toBe('completed');
    expect(order.sent).toHaveLength(1);
  });

  it('waits while another one has the lease', async () => {
    const order = await orderWith({ leasedForMs: 20_000 }, { answers: 'completed' });
    const begun = await environment.currentTimeMs();
    await withOrder(environment, order, async (start) => (await start()).result());
    expect((order.sent[0]?.at ?? 0) - begun).toBeGreaterThanOrEqual(20_000);
  });
});

describe('held work', () => {
  it('goes on by itself, after the time the service named', async () => {
    const order = await orderWith({ fails: 'rate_limited', retryAfterMs: 90_000 }, { answers: 'completed' });
    const result = await withOrder(environment, order, async (start) => (await start()).result());
    expect(result.status).toBe('completed');
    const [first, second] = order.sent;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(90_000);
    expect(order.steps[0]).toMatchObject({ status: 'held', failure: { class: 'rate_limited' } });
  });

  it('fails at its deadline, with nothing bought', async () => {
    const order = await orderWith(
      ...Array.from({ length: 400 }, (): ScriptedSend => ({ fails: 'insufficient_balance' })),
    );
    order.deadlineAt = (await environment.currentTimeMs()) + 2 * 3_600_000;
    const result = await withOrder(environment, order, async (start) => (await start()).result());
    expect(result).toMatchObject({ status: 'failed', failure: 'deadline_passed' });
    expect(await environment.currentTimeMs()).toBeGreaterThanOrEqual(order.deadlineAt);
  });

  it('is sent at once when an operator says retry', async () => {
    const order = await orderWith({ fails: 'insufficient_balance', retryAfterMs: 3_600_000 }, { answers: 'completed' });
    await withOrder(environment, order, async (start) => {
      const handle = await start();
      await environment.sleep('1 minute');
      await handle.executeUpdate(retryUpdate, { args: [{ by: 'Ada', reason: 'a test' }] });
      await handle.result();
    });
    const [first, second] = order.sent;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeLessThan(3_600_000);
  });
});

describe('an order that the service reports as failed', () => {
  it('is bought anew only after the wallet showed no debit for it [spec: state.order.failed]', async () => {
    const order = await orderWith({ answers: 'failed' }, { answers: 'completed' });
    order.evidence = ['debited', 'credited'];
    const result = await withOrder(environment, order, async (start) => (await start()).result());
    expect(result.status).toBe('completed');
    expect(order.sent.map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(order.calls.filter((call) => call === 'readDebitEvidence')).toHaveLength(2);
    const [first, second] = order.sent;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(2 * POLICY.settleDelayMs);
  });

  it.each([
    ['debited', 'failed_but_charged'],
    ['unavailable', 'evidence_unavailable'],
  ] as const)('is parked when the wallet says %s, and never bought anew', async (evidence, attention) => {
    const order = await orderWith({ answers: 'failed' });
    order.evidence = Array.from({ length: 20 }, () => evidence);
    await withOrder(environment, order, async (start) => {
      const handle = await start();
      await environment.sleep('2 days');
      expect(await handle.query(explainQuery)).toMatchObject({ status: 'needs_attention', attention });
      await handle.terminate();
    });
    expect(order.sent).toHaveLength(1);
  });

  it('is parked once its attempts are used up', async () => {
    const order = await orderWith({ answers: 'failed' }, { answers: 'failed' }, { answers: 'failed' });
    order.evidence = ['no_debit', 'no_debit', 'no_debit'];
    await withOrder(environment, order, async (start) => {
      const handle = await start();
      await environment.sleep('2 days');
      expect(await handle.query(explainQuery)).toMatchObject({ attention: 'attempts_used_up' });
      await handle.terminate();
    });
    expect(order.sent.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
  });
});

describe('a run that starts anew', () => {
  it('ends at once when the order has ended', async () => {
    const order = await orderWith();
    order.finished = { status: 'completed', esimId: 'esim_9' };
    const result = await withOrder(environment, order, async (start) => (await start()).result());
    expect(result).toMatchObject({ status: 'completed', esimId: 'esim_9' });
  });

  it('delivers what was bought before it began, and sends nothing', async () => {
    const order = await orderWith();
    order.observe('completed');
    const result = await withOrder(environment, order, async (start) => (await start()).result());
    expect(result.status).toBe('completed');
    expect(order.sent).toHaveLength(0);
  });

  it('shows that a person is waited for while it asks the service once more', async () => {
    const order = await orderWith({ fails: 'timeout' });
    await withOrder(environment, order, async (start) => {
      const first = await start({ resendAllowed: false });
      await environment.sleep('1 hour');
      await first.terminate();
      const asked = order.calls.filter((call) => call === 'lookUpPurchase').length;
      const handle = await start({ resendAllowed: false });
      // Between the first look-up and the next.
      await environment.sleep(POLICY.resendDelayMs / 2);
      expect(order.calls.filter((call) => call === 'lookUpPurchase').length).toBeLessThan(2 * asked);
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

describe('a delivery', () => {
  it('that cannot be read is parked as contract drift', async () => {
    const order = await orderWith({ answers: 'completed' });
    order.delivery = 'unreadable';
    await withOrder(environment, order, async (start) => {
      const handle = await start();
      await environment.sleep('1 minute');
      expect(await handle.query(explainQuery)).toMatchObject({ attention: 'contract_drift' });
      order.delivery = 'delivered';
      await handle.executeUpdate(retryUpdate, { args: [{ by: 'Ada', reason: 'a test' }] });
      expect(await handle.result()).toMatchObject({ status: 'completed' });
    });
  });

  it('that the service does not answer for long is parked, and goes on with a retry', async () => {
    const order = await orderWith({ answers: 'completed' });
    order.delivery = 'fails';
    await withOrder(environment, order, async (start) => {
      const handle = await start();
      await environment.sleep('20 seconds');
      // Each wait is recorded, and has a name.
      expect(await handle.query(explainQuery)).toMatchObject({
        status: 'processing',
        now: expect.stringContaining('could not be read yet'),
        nextStepAt: expect.any(Number),
      });
      await environment.sleep('3 hours');
      expect(await handle.query(explainQuery)).toMatchObject({ attention: 'delivery_unavailable' });
      order.delivery = 'delivered';
      await handle.executeUpdate(retryUpdate, { args: [{ by: 'Ada', reason: 'a test' }] });
      expect(await handle.result()).toMatchObject({ status: 'completed' });
    });
    expect(order.sent).toHaveLength(1);
    expect(order.steps.filter(({ event }) => event === 'order.not_complete_yet').length).toBeGreaterThan(5);
  });
});
