import type { WorkflowHandle } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import type { RetryChangeRequest } from '#domain/retry/retry-change.ts';
import { timeSkippingEnvironment } from '#test/support/servers/time-skipping.ts';
import type { FakeOrder, ScriptedSend } from '#test/support/work/workflows/fake-order.ts';
import { orderWith, resultOf, retry, withOrder, shownAfter } from '#test/support/work/workflows/order-workflow.ts';
import { changeRetryPolicyUpdate, operatorActedSignal } from '#workflows/messages.ts';

const environment = await timeSkippingEnvironment();

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const change = (handle: WorkflowHandle, wanted: RetryChangeRequest) =>
  handle.executeUpdate(changeRetryPolicyUpdate, { args: [{ by: 'Ada', reason: 'a test', ...wanted }] });
/** Seconds between the sends, rounded down to tens, because other steps take up to ten seconds of real time. */
const waits = (order: FakeOrder) =>
  order.sent.slice(1).map(({ at }, before) => 10 * Math.floor((at - order.sent[before]!.at) / 10_000));

describe('an order with failures of different classes', () => {
  it('waits by the rule of each class', async () => {
    const order = await orderWith([{ fails: 'price_above_limit' }, { fails: 'not_sent' }, 'answers completed']);
    await resultOf(order);
    // The second wait of consecutive holds is twice the first wait of its class.
    expect(waits(order)).toEqual([60, 30]);
  });

  it('is retried for the configured total time of its class', async () => {
    const order = await orderWith(Array.from({ length: 40 }, (): ScriptedSend => ({ fails: 'price_above_limit' })));
    const retryRules = { price_above_limit: { firstDelayMs: 10 * MINUTE, maxDelayMs: 10 * MINUTE, totalMs: 2 * HOUR } };
    const result = await resultOf(order, { retryRules });
    expect(result).toMatchObject({ status: 'failed', failure: 'price_above_limit', endedBy: 'deadline_passed' });
    expect(order.sent).toHaveLength(12);
    expect(waits(order)).toEqual(Array.from({ length: 11 }, () => 600));
  });

  it('is held for the longer total time of its class, also by a run that begins during the hold', async () => {
    const paused = { gated: 'purchases_paused', recheckMs: 12 * HOUR } as const;
    const order = await orderWith([...Array.from({ length: 8 }, () => paused), 'answers completed']);
    const began = await environment.currentTimeMs();
    let isNewRun = false;
    order.change = (fakes, now) => ({
      recordStep: async (step) => {
        if (isNewRun || (await now()) < began + 3 * DAY) return fakes.recordStep(step);
        isNewRun = true;
        return 'superseded';
      },
    });
    const retryRules = { purchases_paused: { totalMs: 7 * DAY } };
    expect(await resultOf(order, { retryRules })).toMatchObject({ status: 'completed' });
    expect(isNewRun).toBe(true);
    expect(order.sent).toHaveLength(1);
    expect(order.sent[0]!.at - began).toBeGreaterThan(3 * DAY);
  });

  it('is held for the longer total time of its class, also while its sends cannot begin', async () => {
    const paused = { gated: 'purchases_paused', recheckMs: 12 * HOUR } as const;
    const order = await orderWith([
      ...Array.from({ length: 7 }, () => paused),
      ...Array.from({ length: 20 }, () => 'dies before the send' as const),
      'answers completed',
    ]);
    const retryRules = { purchases_paused: { totalMs: 7 * DAY } };
    expect(await resultOf(order, { retryRules })).toMatchObject({ status: 'completed' });
    const stalled = order.steps.filter(({ attention }) => attention?.reason === 'stalled');
    expect(stalled.map(({ failure }) => failure?.class)).toEqual(['purchases_paused']);
  });

  it('has the general total time again after a send that ended its hold', async () => {
    // The sends after the hold have no answer: each window after a proof passes before the send leaves.
    const late = Array.from({ length: 10 }, () => 'comes too late' as const);
    const order = await orderWith([{ fails: 'not_sent' }, { fails: 'timeout' }, ...late, 'answers completed'], {
      absences: Array.from({ length: 10 }, () => 'absent'),
    });
    const began = await environment.currentTimeMs();
    const reasons = () => new Set(order.steps.flatMap(({ attention }) => attention?.reason ?? []));
    await withOrder(order, { retryRules: { not_sent: { totalMs: HOUR } } }, async (handle) => {
      await environment.sleep(HOUR + 20 * MINUTE);
      expect(reasons()).toEqual(new Set(['service_not_answering']));
      expect(await handle.result()).toMatchObject({ status: 'completed' });
    });
    expect(reasons()).toEqual(new Set(['service_not_answering']));
    expect(order.sent.at(-1)!.at - began).toBeGreaterThan(HOUR);
  });
});

describe('a change of the retry policy', () => {
  it('to a shorter wait counts from the start of the present wait', async () => {
    const order = await orderWith([{ fails: 'price_above_limit' }, 'answers completed']);
    const retryRules = { price_above_limit: { firstDelayMs: 5 * HOUR, maxDelayMs: 5 * HOUR } };
    await withOrder(order, { retryRules }, async (handle) => {
      await environment.sleep(10 * MINUTE);
      await change(handle, { first_wait_seconds: 1_800 });
      const shown = await shownAfter(MINUTE, handle);
      expect(shown).toMatchObject({ status: 'held', failure: 'price_above_limit' });
      expect(shown.retry).toContain('waits of 30 min at first, 5 h at most');
      expect(shown.retry).toContain('Set by an operator for this one: the first wait.');
      await handle.result();
    });
    expect(waits(order)).toEqual([1_800]);
    expect(order.steps.filter(({ status }) => status === 'held')).toHaveLength(2);
  });

  it('to a longer wait lengthens the present wait; a retry after it continues at once', async () => {
    const order = await orderWith([{ fails: 'not_sent' }, { fails: 'not_sent' }, 'answers completed']);
    await withOrder(order, { holdDelayMs: HOUR, holdDelayMaxMs: HOUR }, async (handle) => {
      await environment.sleep(MINUTE);
      await change(handle, { first_wait_seconds: 7_200 });
      await environment.sleep(100 * MINUTE);
      expect(order.sent).toHaveLength(1);
      await environment.sleep(30 * MINUTE);
      expect(order.sent).toHaveLength(2);
      await change(handle, { first_wait_seconds: 36_000 });
      await retry(handle);
      await handle.result();
    });
    expect(waits(order)[0]).toBe(7_200);
    expect(waits(order)[1]).toBeLessThan(3_600);
  });

  it('together with a retry, under one signal, continues at once', async () => {
    const order = await orderWith([{ fails: 'not_sent' }, 'answers completed']);
    await withOrder(order, { holdDelayMs: 10 * HOUR, holdDelayMaxMs: 10 * HOUR }, async (handle) => {
      await environment.sleep(MINUTE);
      order.retryOverrides = { firstDelayMs: 20 * HOUR };
      order.continueNow();
      await handle.signal(operatorActedSignal);
      await handle.result();
    });
    expect(waits(order)[0]).toBeLessThan(3_600);
  });

  it('does not shorten a wait that the service requested', async () => {
    const order = await orderWith([{ fails: 'rate_limited', retryAfterMs: 2 * HOUR }, 'answers completed']);
    await withOrder(order, {}, async (handle) => {
      await environment.sleep(MINUTE);
      await change(handle, { first_wait_seconds: 1, longest_wait_seconds: 1 });
      await handle.result();
    });
    expect(waits(order)).toEqual([7_200]);
  });

  it('of the deadline ends a hold earlier, or allows more time than the caller requested', async () => {
    const sooner = await orderWith([{ fails: 'not_sent' }]);
    const began = await environment.currentTimeMs();
    await withOrder(sooner, { holdDelayMs: 10 * HOUR, holdDelayMaxMs: 10 * HOUR }, async (handle) => {
      await environment.sleep(MINUTE);
      await change(handle, { deadline: new Date(began + HOUR).toISOString() });
      expect(await handle.result()).toMatchObject({ status: 'failed', endedBy: 'deadline_passed' });
    });
    expect(sooner.steps.findLast(({ status }) => status === 'held')?.nextStepAt).toBe(began + HOUR);
    expect(sooner.sent).toHaveLength(1);

    const later = await orderWith([{ fails: 'not_sent' }, { fails: 'not_sent' }, 'answers completed']);
    const from = await environment.currentTimeMs();
    later.deadlineAt = from + HOUR;
    await withOrder(later, { holdDelayMs: 50 * MINUTE, holdDelayMaxMs: 50 * MINUTE }, async (handle) => {
      await environment.sleep(MINUTE);
      await change(handle, { deadline: new Date(from + 48 * HOUR).toISOString() });
      expect((await handle.result()).status).toBe('completed');
    });
    expect(waits(later)).toEqual([3_000, 3_000]);
  });

  it('to more attempts continues an order with attempts_used_up, after the due wait', async () => {
    const order = await orderWith(['answers failed', 'answers completed'], { evidence: ['no_debit'] });
    order.whenUsedUp = 'ask';
    await withOrder(order, { maxAttempts: 1 }, async (handle) => {
      expect(await shownAfter('1 hour', handle)).toMatchObject({ attention: 'attempts_used_up' });
      await change(handle, { attempts: 2 });
      await handle.result();
    });
    expect(order.sent.map(({ attempt }) => attempt)).toEqual([1, 2]);
  });

  it('to fewer attempts, during the wait for the next one, ends the order', async () => {
    const order = await orderWith(['answers failed'], { evidence: ['no_debit'] });
    await withOrder(order, { attemptDelayMs: HOUR, holdDelayMaxMs: HOUR }, async (handle) => {
      expect(await shownAfter(10 * MINUTE, handle)).toMatchObject({ status: 'held', next: 'Attempt 2 of at most 3.' });
      await change(handle, { attempts: 1 });
      const end = { status: 'failed', failure: 'supplier_failed', endedBy: 'attempts_used_up' };
      expect(await handle.result()).toMatchObject(end);
    });
    expect(order.sent).toHaveLength(1);
  });

  it('to a longer wait before a new attempt delays that attempt', async () => {
    const order = await orderWith(['answers failed', 'answers completed'], { evidence: ['no_debit'] });
    await withOrder(order, { attemptDelayMs: HOUR, holdDelayMaxMs: HOUR }, async (handle) => {
      await environment.sleep(10 * MINUTE);
      await change(handle, { first_wait_seconds: 10_800 });
      await handle.result();
    });
    expect(waits(order)[0]).toBeGreaterThanOrEqual(10_800);
  });

  it('never causes a resend of a purchase that may have been bought', async () => {
    const order = await orderWith([{ fails: 'timeout' }], { lookUps: ['not_found', 'not_found', 'not_found'] });
    await withOrder(order, { resendAllowed: false }, async (handle) => {
      expect(await shownAfter('1 hour', handle)).toMatchObject({ attention: 'outcome_unknown' });
      const later = new Date((await environment.currentTimeMs()) + 48 * HOUR).toISOString();
      await change(handle, { attempts: 20, first_wait_seconds: 1, deadline: later });
      expect(await shownAfter('2 days', handle)).toMatchObject({ attention: 'outcome_unknown' });
    });
    expect(order.sent).toHaveLength(1);
  });
});
