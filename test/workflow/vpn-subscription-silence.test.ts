import { describe, expect, it } from 'vitest';
import { timeSkippingEnvironment } from '#test/support/servers/time-skipping.ts';
import { needsAttention, POLICY, report, shownAfter } from '#test/support/work/workflows/order-workflow.ts';
import {
  cancel,
  endOf,
  FakeSubscription,
  FOUND,
  inDays,
  OUT_OF_ORDER,
  withSubscription,
} from '#test/support/work/workflows/subscription-workflow.ts';
import { explainQuery, operatorActedSignal } from '#workflows/messages.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const environment = await timeSkippingEnvironment();

const sleepUntil = async (at: number) => environment.sleep(at - (await environment.currentTimeMs()));

describe('a VPN subscription after its end', () => {
  it('continues if a later look-up shows a renewal, after a failed one', async () => {
    const end = await inDays(30);
    const renewed = await inDays(60);
    const subscription = new FakeSubscription(end);
    subscription.onLookUp = () => {
      if (subscription.lookUps === 1) return OUT_OF_ORDER;
      subscription.change(subscription.lookUps === 2 ? { expiresAt: renewed } : { endedAs: 'expired' });
      return FOUND;
    };
    await withSubscription(subscription, async (running) => {
      await sleepUntil(end + POLICY.expiryGraceMs + MINUTE_MS / 2);
      const waiting = await running.query(explainQuery);
      expect(waiting).toMatchObject({ status: 'active', failure: 'server_error' });
      expect(waiting.nextStepAt).toBe(subscription.steps.at(-1)?.nextStepAt);
      expect(waiting.nextStepAt).toBeGreaterThan(await environment.currentTimeMs());
      const lives = await shownAfter('10 days', running);
      expect(lives).toMatchObject({ status: 'active', nextStepAt: renewed });
      expect(lives.failure).toBeUndefined();
      expect(await running.result()).toMatchObject({ status: 'expired' });
    });
    expect(await environment.currentTimeMs()).toBeGreaterThanOrEqual(renewed);
    // The failure is removed in PostgreSQL, too.
    expect(subscription.steps.map(({ status, failure }) => [status, failure?.class])).toEqual([
      ['active', 'server_error'],
      ['active', undefined],
      ['expired', undefined],
    ]);
  });

  it('does not end during silence of the service: waits grow, a case opens, and an answer continues it', async () => {
    const end = await inDays(30);
    const subscription = new FakeSubscription(end, { onLookUp: () => OUT_OF_ORDER });
    await withSubscription(subscription, async (running) => {
      await sleepUntil(end + POLICY.expiryGraceMs + POLICY.silentDeadlineMs - HOUR_MS);
      expect(await running.query(explainQuery)).toMatchObject({ status: 'active', failure: 'server_error' });
      const { lookUpTimes: times } = subscription;
      const pauses = times.slice(1).map((at, n) => Math.round((at - times[n]!) / MINUTE_MS));
      expect(pauses.slice(0, 8)).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
      const withCase = { ...needsAttention('delivery_unavailable'), failure: 'server_error' };
      expect(await shownAfter('3 hours', running)).toMatchObject(withCase);
      const opened = subscription.steps.filter(({ attention }) => attention?.reason === 'delivery_unavailable');
      const attention = { detail: expect.stringContaining('503') };
      expect(opened).toMatchObject([{ status: 'needs_attention', attention }]);
      const before = subscription.lookUps;
      await environment.sleep('3 days');
      expect(subscription.lookUps).toBe(before + 3);
      expect(subscription.steps.at(-1)).toEqual(opened[0]);
      const renewed = await inDays(20);
      subscription.onLookUp = () => {
        subscription.change({ expiresAt: renewed });
        return FOUND;
      };
      expect(await shownAfter('2 days', running)).toMatchObject({ status: 'active', nextStepAt: renewed });
      expect(subscription.steps.at(-1)).toMatchObject({ status: 'active' });
    });
  });

  it('that needs attention is looked up by a new run and on retry, and ends after the verdict', async () => {
    const subscription = new FakeSubscription(await inDays(-3), {
      ...needsAttention('delivery_unavailable'),
      onLookUp: () => OUT_OF_ORDER,
    });
    await withSubscription(subscription, async (running) => {
      await environment.sleep('1 hour');
      expect(subscription.lookUps).toBe(1);
      expect(await running.query(explainQuery)).toMatchObject(needsAttention('delivery_unavailable'));
      await running.signal(operatorActedSignal);
      await environment.sleep('1 hour');
      expect(subscription.lookUps).toBe(2);
      // It still needs attention, so no step is recorded.
      expect(subscription.steps).toEqual([]);
      subscription.judge('active');
      await running.signal(operatorActedSignal);
      expect(await running.result()).toMatchObject({ status: 'expired' });
    });
    expect(subscription.lookUps).toBe(2);
  });

  it('that needs attention is cancelled on request of its customer', async () => {
    const subscription = new FakeSubscription(await inDays(-3), {
      ...needsAttention('delivery_unavailable'),
      onLookUp: () => OUT_OF_ORDER,
    });
    await withSubscription(subscription, async (running) => {
      await environment.sleep('1 hour');
      await cancel(subscription, running);
      expect(await running.result()).toMatchObject({ status: 'cancelled' });
    });
    expect(subscription.cancels).toHaveLength(1);
    expect(subscription.steps.map(({ status }) => status)).toEqual(['cancelling', 'cancelled']);
  });
});

describe('the accepted cancellation of a VPN subscription without confirmation', () => {
  it('ends as cancelled at the end of the subscription', async () => {
    const end = await inDays(2);
    const subscription = new FakeSubscription(end, { onLookUp: () => OUT_OF_ORDER });
    subscription.change({ cancelRequested: true });
    await withSubscription(subscription, async (running) => {
      await sleepUntil(end - HOUR_MS);
      expect(await running.query(explainQuery)).toMatchObject({ status: 'cancelling' });
      expect(await running.result()).toMatchObject({ status: 'cancelled' });
    });
    // There is a last look-up.
    expect(subscription.lookUpTimes.at(-1)).toBeGreaterThanOrEqual(end + POLICY.expiryGraceMs);
    expect(subscription.lookUpTimes.at(-1)).toBeLessThan(end + HOUR_MS);
    expect(subscription.steps.map(({ status }) => status)).toEqual(['cancelling', 'cancelled']);
    expect(subscription.cancels).toHaveLength(1);
  });

  it('continues to wait if the service reports a later end of the subscription', async () => {
    const end = await inDays(2);
    const longer = await inDays(4);
    const subscription = new FakeSubscription(end);
    subscription.onLookUp = () => {
      subscription.change({ expiresAt: longer });
      return FOUND;
    };
    subscription.change({ cancelRequested: true });
    expect(await endOf(subscription)).toMatchObject({ status: 'cancelled' });
    expect(await environment.currentTimeMs()).toBeGreaterThanOrEqual(longer);
  });

  it('needs attention if each look-up moves the end on; a retry sends the cancellation again', async () => {
    const subscription = new FakeSubscription(await inDays(2));
    const moveOn = () => subscription.change({ expiresAt: subscription.view.expiresAt! + 30 * DAY_MS });
    subscription.onLookUp = () => {
      moveOn();
      return FOUND;
    };
    subscription.change({ cancelRequested: true });
    await withSubscription(subscription, async (running) => {
      expect(await shownAfter('1 day', running)).toMatchObject(needsAttention('cancellation_refused'));
      const paidUntil = new Date(subscription.view.expiresAt!).toISOString();
      expect(subscription.steps.at(-1)?.attention?.detail).toContain(`has renewed it since, until ${paidUntil}`);
      const before = subscription.lookUps;
      await environment.sleep('30 days');
      expect([subscription.lookUps, subscription.cancels.length]).toEqual([before, 1]);
      subscription.onLookUp = () => {
        // Of the repeated request, too, one correction of the end is no renewal.
        if (subscription.lookUps === before + 1) moveOn();
        else subscription.change({ endedAs: 'cancelled' });
        return FOUND;
      };
      subscription.cancelAgain();
      await running.signal(operatorActedSignal);
      expect(await shownAfter('1 day', running)).toMatchObject({ status: 'cancelled' });
    });
    expect(subscription.cancels).toHaveLength(2);
  });

  it('takes an end that a late read shows in between for no renewal', async () => {
    const end = await inDays(2);
    const subscription = new FakeSubscription(end);
    subscription.onLookUp = () => {
      subscription.change({ expiresAt: subscription.lookUps === 2 ? end : end + 30 * DAY_MS });
      return FOUND;
    };
    subscription.change({ cancelRequested: true });
    await withSubscription(subscription, async (running) => {
      expect(await shownAfter('2 days', running)).toMatchObject({ status: 'cancelling' });
    });
  });

  it('takes a renewal from before the cancellation, which the service shows late, for no renewal after it', async () => {
    const end = (await environment.currentTimeMs()) - HOUR_MS;
    const subscription = new FakeSubscription(end);
    subscription.onLookUp = () => {
      subscription.change({ expiresAt: end + 30 * DAY_MS });
      return FOUND;
    };
    subscription.change({ cancelRequested: true });
    await withSubscription(subscription, async (running) => {
      expect(await shownAfter('1 day', running)).toMatchObject({ status: 'cancelling' });
    });
  });

  it('needs attention when it is renewed each day a little early', async () => {
    const subscription = new FakeSubscription(await inDays(1));
    subscription.onLookUp = () => {
      const { expiresAt = 0 } = subscription.view;
      const isDue = subscription.lookUpTimes.at(-1)! >= expiresAt - HOUR_MS;
      if (isDue) subscription.change({ expiresAt: expiresAt + DAY_MS - 30_000 });
      return FOUND;
    };
    subscription.change({ cancelRequested: true });
    await withSubscription(subscription, async (running) => {
      expect(await shownAfter('6 days', running)).toMatchObject(needsAttention('cancellation_refused'));
    });
  });

  it('needs attention as soon as the service has renewed it at its end', async () => {
    const end = await inDays(2);
    const subscription = new FakeSubscription(end);
    subscription.onLookUp = () => {
      if (subscription.lookUpTimes.at(-1)! >= end) subscription.change({ expiresAt: end + 30 * DAY_MS });
      return FOUND;
    };
    subscription.change({ cancelRequested: true });
    await withSubscription(subscription, async (running) => {
      expect(await shownAfter('47 hours', running)).toMatchObject({ status: 'cancelling' });
      expect(await shownAfter('3 hours', running)).toMatchObject(needsAttention('cancellation_refused'));
    });
    expect(subscription.cancels).toHaveLength(1);
  });

  it('needs attention if the end is not known; a retry sends the cancellation again', async () => {
    const subscription = new FakeSubscription(undefined, { onLookUp: () => FOUND });
    subscription.change({ cancelRequested: true });
    await withSubscription(subscription, async (running) => {
      expect(await shownAfter(POLICY.silentDeadlineMs - HOUR_MS, running)).toMatchObject({ status: 'cancelling' });
      expect(await shownAfter('3 hours', running)).toMatchObject(needsAttention('cancellation_refused'));
      const before = subscription.lookUps;
      await environment.sleep('30 days');
      expect([subscription.lookUps, subscription.cancels.length]).toEqual([before, 1]);
      subscription.endsAs('cancelled');
      subscription.cancelAgain();
      await running.signal(operatorActedSignal);
      expect(await running.result()).toMatchObject({ status: 'cancelled' });
    });
    expect(subscription.cancels).toHaveLength(2);
  });
});

describe('a new run of a VPN subscription that needs attention', () => {
  it('shows a refused cancellation, and sends it again only after a retry', async () => {
    const subscription = new FakeSubscription(await inDays(30), needsAttention('cancellation_refused'));
    subscription.change({ cancelRequested: true });
    await withSubscription(subscription, async (running) => {
      expect(await shownAfter('2 days', running)).toMatchObject(needsAttention('cancellation_refused'));
      // Other reports are handled and change nothing.
      await report(running);
      await environment.sleep('2 days');
      expect(subscription.steps).toMatchObject([
        { status: 'needs_attention', attention: { reason: 'cancellation_refused' }, applied: ['1'] },
      ]);
      expect([subscription.lookUps, subscription.cancels.length]).toEqual([0, 0]);
      subscription.cancelAgain();
      subscription.endsAs('cancelled');
      await running.signal(operatorActedSignal);
      expect(await running.result()).toMatchObject({ status: 'cancelled' });
    });
    expect(subscription.cancels).toHaveLength(1);
  });

  it('shows a contradiction until an operator judges it', async () => {
    const subscription = new FakeSubscription(await inDays(30), needsAttention('contradiction'));
    await withSubscription(subscription, async (running) => {
      expect(await shownAfter('1 day', running)).toMatchObject(needsAttention('contradiction'));
      await report(running, { outcome: 'failed', decision: 'contradiction' });
      await environment.sleep('1 day');
      expect(subscription.steps).toMatchObject([
        { status: 'needs_attention', attention: { reason: 'contradiction' }, applied: ['1'] },
      ]);
      subscription.judge('active');
      await running.signal(operatorActedSignal);
      expect(await shownAfter('1 day', running)).toMatchObject({ status: 'active' });
    });
  });
});
