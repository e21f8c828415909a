import { describe, expect, it } from 'vitest';
import { timeSkippingEnvironment } from '#test/support/servers/time-skipping.ts';
import type { FakeOrder, ScriptedSend } from '#test/support/work/workflows/fake-order.ts';
import {
  needsAttention,
  orderWith,
  POLICY,
  report,
  shownAfter,
  withOrder,
} from '#test/support/work/workflows/order-workflow.ts';
import { explainQuery, operatorActedSignal } from '#workflows/messages.ts';

const environment = await timeSkippingEnvironment();

const HOUR = 3_600_000;
const OUTAGE = 24 * HOUR;
/** The longest wait between two look-ups, and a minute for the look-ups themselves. */
const HEALED_WITHIN = POLICY.lookUpAgainMaxMs + 60_000;
const timeouts = (count: number): ScriptedSend[] => Array.from({ length: count }, () => ({ fails: 'server_error' }));
/** Number of sends of one attempt in its resend window. The waits double from 2 s to 2 min, for 10 min. */
const SENDS_IN_WINDOW = 10;

const tooLate = Array.from({ length: 200 }, () => 'comes too late' as const);
/** A recorded step. */
const WITH_CASE = expect.objectContaining({
  status: 'needs_attention',
  attention: expect.objectContaining({ reason: 'service_not_answering' }),
});

/** Statuses since the first case. A repeated look-up does not change the status. */
const statusesSinceCase = ({ steps }: FakeOrder) =>
  new Set(steps.slice(steps.findIndex(({ status }) => status === 'needs_attention')).map(({ status }) => status));

/** Carries an order through a day in which the service answers neither sends nor look-ups. */
async function throughOutage(order: FakeOrder) {
  const until = (await environment.currentTimeMs()) + OUTAGE;
  const failure = { class: 'server_error', detail: 'The service answered 503.' } as const;
  let completedAt = Infinity;
  order.change = (fakes, now) => {
    const isOut = async () => (await now()) < until;
    return {
      lookUpPurchase: async (input) =>
        (await isOut()) ? { kind: 'unavailable', failure } : fakes.lookUpPurchase(input),
      readDebitEvidence: async (input) =>
        (await isOut())
          ? { evidence: 'unavailable', mayPass: true, detail: failure.detail }
          : fakes.readDebitEvidence(input),
      completePurchase: async (input) => {
        if (await isOut()) return { kind: 'not_yet', reason: 'server_error', detail: failure.detail };
        completedAt = await now();
        return fakes.completePurchase(input);
      },
    };
  };
  return withOrder(order, {}, async (handle) => {
    const explained = await shownAfter(OUTAGE / 2, handle);
    const { historyLength } = await handle.describe();
    return { explained, historyLength, result: await handle.result(), healedAfterMs: completedAt - until };
  });
}

describe('work after an outage of the service for a day', () => {
  it('is found and delivered without an operator, if it could not be looked up', async () => {
    const order = await orderWith(timeouts(SENDS_IN_WINDOW), { lookUps: ['found completed'] });
    const { explained, historyLength, result, healedAfterMs } = await throughOutage(order);
    expect(explained).toMatchObject({ ...needsAttention('service_not_answering'), nextStepAt: expect.any(Number) });
    expect(result).toMatchObject({ status: 'completed' });
    expect(healedAfterMs).toBeLessThanOrEqual(HEALED_WITHIN);
    expect(historyLength).toBeLessThan(2_000);
    for (const step of order.steps.filter(({ attention }) => attention !== undefined))
      expect(step).toMatchObject({ attention: { reason: 'service_not_answering' }, nextStepAt: expect.any(Number) });
  });

  it('is sent again with the same key and bought once, if it is proven absent', async () => {
    const order = await orderWith([...timeouts(SENDS_IN_WINDOW), 'answers completed'], { absences: ['absent'] });
    const { result } = await throughOutage(order);
    expect(result).toMatchObject({ status: 'completed' });
    expect(order.calls).toContain('proveAbsence');
    expect(new Set(order.sent.map(({ attempt }) => attempt))).toEqual(new Set([1]));
  });

  it.each<[string, ScriptedSend[], number, number, number]>([
    // Fifteen minutes apart at last: 48 in half a day, and a few before.
    ['no send leaves in the windows after proofs', [{ fails: 'timeout' }, ...tooLate], 30, 60, 1],
    // About ten sends in each window of ten minutes, and a quarter of an hour between two windows.
    ['the service answers look-ups but no sends', timeouts(1_000), 15, 40, SENDS_IN_WINDOW * 40],
  ])('is retried with growing waits and a case, if %s', async (_if, sends, least, most, sent) => {
    const order = await orderWith(sends, { absences: Array.from({ length: 200 }, () => 'absent') });
    await withOrder(order, {}, async () => {
      await environment.sleep(OUTAGE / 2);
      expect(order.steps).toContainEqual(WITH_CASE);
    });
    const proofs = order.timesCalled('proveAbsence');
    expect(proofs).toBeGreaterThan(least);
    expect(proofs).toBeLessThan(most);
    expect(order.sent.length).toBeLessThanOrEqual(sent);
  });

  it('has a case, too, if the purchase gate holds it in each window after a proof', async () => {
    const gated = { gated: 'service_down', recheckMs: POLICY.resendWindowMs } as const;
    const order = await orderWith([{ fails: 'timeout' }, ...tooLate.flatMap((late) => [gated, late])], {
      absences: Array.from({ length: 200 }, () => 'absent'),
    });
    await withOrder(order, { historyLimit: 100 }, async (handle) => {
      await environment.sleep(OUTAGE / 4);
      expect(order.steps).toContainEqual(WITH_CASE);
      const proofs = () => order.timesCalled('proveAbsence');
      // A proof, ten minutes at the gate, then a wait of fifteen minutes with a case. Wake it in that wait.
      const earlier = proofs();
      while (proofs() === earlier) await environment.sleep(60_000);
      await environment.sleep(POLICY.resendWindowMs + POLICY.lookUpAgainMaxMs / 2);
      const before = proofs();
      // An operator need not wait for the next look-up.
      await handle.signal(operatorActedSignal);
      await environment.sleep(POLICY.resendWindowMs / 2);
      expect(proofs()).toBe(before + 1);
    });
    expect(order.sent).toHaveLength(1);
  });

  it('is settled and gets a new attempt, if it failed and the wallet could not be read', async () => {
    const order = await orderWith(['answers failed', 'answers completed'], { evidence: ['no_debit'] });
    const { explained, result } = await throughOutage(order);
    expect(explained).toMatchObject(needsAttention('service_not_answering'));
    expect(result).toMatchObject({ status: 'completed' });
    expect([...statusesSinceCase(order)].slice(0, 2)).toEqual(['needs_attention', 'held']);
    expect(order.sent.map(({ attempt }) => attempt)).toEqual([1, 2]);
  });

  it('is delivered, if it was bought and could not be read', async () => {
    const order = await orderWith(['answers completed']);
    const { explained, result, healedAfterMs } = await throughOutage(order);
    expect(explained).toMatchObject({ ...needsAttention('delivery_unavailable'), nextStepAt: expect.any(Number) });
    expect(result).toMatchObject({ status: 'completed' });
    expect(statusesSinceCase(order)).toEqual(new Set(['needs_attention']));
    expect(order.steps.filter(({ event }) => event === 'order.not_complete_yet').length).toBeGreaterThan(5);
    expect(healedAfterMs).toBeLessThanOrEqual(HEALED_WITHIN);
  });

  it('is read again within seconds and without another case, if a report completes it first', async () => {
    const order = await orderWith([{ fails: 'timeout' }, 'comes too late']);
    const failure = { class: 'server_error', detail: 'The service answered 503.' } as const;
    const reads: number[] = [];
    order.change = (fakes, now) => ({
      lookUpPurchase: async () => Promise.resolve({ kind: 'unavailable', failure }),
      completePurchase: async (input) => {
        reads.push(await now());
        if (reads.length > 1) return fakes.completePurchase(input);
        return { kind: 'not_yet', reason: 'not_listed', detail: 'Its eSIM is not listed yet.' };
      },
    });
    await withOrder(order, {}, async (handle) => {
      expect(await shownAfter(OUTAGE / 4, handle)).toMatchObject(needsAttention('service_not_answering'));
      order.observe('completed');
      await report(handle);
      expect(await handle.result()).toMatchObject({ status: 'completed' });
    });
    expect(order.steps.map(({ attention }) => attention?.reason)).not.toContain('delivery_unavailable');
    expect(reads).toHaveLength(2);
    expect(reads[1]! - reads[0]!).toBeLessThan(POLICY.lookUpAgainMs);
  });
});

describe('a workflow without progress for a day', () => {
  it('opens a case and keeps a short history, if a report of the service is not judged', async () => {
    const order = await orderWith([...Array.from({ length: 500 }, () => 'is barred' as const), 'answers completed']);
    await withOrder(order, { holdDeadlineMs: 72 * HOUR }, async (handle) => {
      await environment.sleep(OUTAGE);
      expect((await handle.describe()).historyLength).toBeLessThan(2_000);
      expect(await handle.query(explainQuery)).toMatchObject(needsAttention('stalled'));
    });
  });

  it('opens a case and continues in new runs, if its sends do not begin; the order is sent once later', async () => {
    const dying = Array.from({ length: 300 }, () => 'dies before the send' as const);
    const order = await orderWith([...dying, 'answers completed']);
    await withOrder(order, { holdDeadlineMs: 72 * HOUR, historyLimit: 300 }, async (handle) => {
      const first = await handle.describe();
      await environment.sleep(OUTAGE);
      const latest = await handle.describe();
      expect(latest.historyLength).toBeLessThan(400);
      expect(latest.runId).not.toBe(first.runId);
      expect(await handle.result()).toMatchObject({ status: 'completed' });
    });
    expect(order.sent).toHaveLength(1);
    expect(order.steps.filter(({ attention }) => attention?.reason === 'stalled').length).toBeGreaterThan(0);
  });
});

describe('an outage of PostgreSQL for a day', () => {
  it('leaves a history of less than 2,000 events; the order is bought once afterwards', async () => {
    const order = await orderWith(['answers completed']);
    const until = (await environment.currentTimeMs()) + OUTAGE;
    order.change = (fakes, now) => ({
      beginWork: async (input) => {
        if ((await now()) < until) throw new Error('connect ECONNREFUSED');
        return fakes.beginWork(input);
      },
    });
    await withOrder(order, { holdDeadlineMs: 3 * OUTAGE }, async (handle) => {
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
