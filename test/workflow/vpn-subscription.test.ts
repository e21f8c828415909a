import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTimeSkippingEnvironment } from '#test/support/servers/time-skipping.ts';
import { FakeSubscription, FOUND, withSubscription } from '#test/support/work/workflows/subscription-workflow.ts';
import { explainQuery, operatorActedSignal, serviceObservedSignal } from '#workflows/messages.ts';

const DAY_MS = 86_400_000;

let environment: TestWorkflowEnvironment;
beforeAll(async () => {
  environment = await createTimeSkippingEnvironment();
});
afterAll(() => environment.teardown());

const inDays = async (days: number) => (await environment.currentTimeMs()) + days * DAY_MS;
const observed = {
  inboxId: '1',
  source: 'webhook',
  attemptNumber: 1,
  outcome: 'completed',
  decision: 'advance',
} as const;

describe('a VPN subscription', () => {
  it('of two years sleeps through them, and expires by its time even when no event ever tells [spec: state.vpn.expired]', async () => {
    const subscription = new FakeSubscription(await inDays(730));
    const handle = await withSubscription(environment, subscription, async (running) => {
      await environment.sleep('700 days');
      expect(await running.query(explainQuery)).toMatchObject({ status: 'active' });
      expect(subscription.lookUps).toBe(0);
      expect(await running.result()).toMatchObject({ status: 'expired' });
      return running;
    });
    expect(subscription.lookUps).toBe(1);
    const { events = [] } = await handle.fetchHistory();
    expect(events?.length).toBeLessThan(40);
  });

  it('whose completion PostgreSQL has lost is completed once more when it is woken, and lives on', async () => {
    const subscription = new FakeSubscription(await inDays(30));
    await withSubscription(environment, subscription, async (running) => {
      await environment.sleep('1 day');
      subscription.loseCompletion();
      await running.signal(operatorActedSignal);
      await environment.sleep('1 day');
      expect(subscription.completions).toBe(1);
      expect(subscription.steps.filter(({ status }) => status === 'active')).toEqual([]);
      expect(await running.query(explainQuery)).toMatchObject({ status: 'active' });
      await running.terminate();
    });
  });

  it('that was renewed, as the service says when it is asked at the end, lives on', async () => {
    const subscription = new FakeSubscription(await inDays(30));
    const renewed = await inDays(60);
    subscription.onLookUp = () => {
      subscription.change({ expiresAt: renewed });
      return FOUND;
    };
    await withSubscription(environment, subscription, async (running) => {
      await environment.sleep('45 days');
      expect(await running.query(explainQuery)).toMatchObject({ status: 'active' });
      expect(await running.result()).toMatchObject({ status: 'expired' });
    });
    expect(await environment.currentTimeMs()).toBeGreaterThanOrEqual(renewed);
  });

  it('whose end is not known is looked at once a day, and ends when the service says so [spec: state.vpn.expired]', async () => {
    const subscription = new FakeSubscription(undefined);
    subscription.onLookUp = () => {
      if (subscription.lookUps === 5) subscription.change({ endedAs: 'expired' });
      return FOUND;
    };
    const began = await environment.currentTimeMs();
    await withSubscription(environment, subscription, async (running) =>
      expect(await running.result()).toMatchObject({ status: 'expired' }),
    );
    expect((await environment.currentTimeMs()) - began).toBeGreaterThanOrEqual(5 * DAY_MS);
  });

  it('ends at once when the service says that it has [spec: state.vpn.cancelled]', async () => {
    const subscription = new FakeSubscription(await inDays(30));
    await withSubscription(environment, subscription, async (running) => {
      await environment.sleep('1 day');
      subscription.change({ endedAs: 'cancelled' });
      await running.signal(serviceObservedSignal, observed);
      expect(await running.result()).toMatchObject({ status: 'cancelled' });
    });
    expect(subscription.steps.at(-1)).toMatchObject({ status: 'cancelled', applied: ['1'] });
  });

  it('answers at once what the service says of it while it lives on', async () => {
    const subscription = new FakeSubscription(await inDays(30));
    await withSubscription(environment, subscription, async (running) => {
      await environment.sleep('1 day');
      await running.signal(serviceObservedSignal, observed);
      await environment.sleep('1 hour');
      expect(subscription.steps).toMatchObject([{ status: 'active', applied: ['1'] }]);
      expect(await running.result()).toMatchObject({ status: 'expired' });
    });
  });

  it('that its customer ends is cancelled, and the service is asked when no event confirms it', async () => {
    const subscription = new FakeSubscription(await inDays(30));
    subscription.onLookUp = () => {
      if (subscription.lookUps === 3) subscription.change({ endedAs: 'cancelled' });
      return FOUND;
    };
    await withSubscription(environment, subscription, async (running) => {
      subscription.change({ cancelRequested: true });
      await running.signal(operatorActedSignal);
      expect(await running.result()).toMatchObject({ status: 'cancelled' });
    });
    expect(subscription.cancels).toHaveLength(1);
    expect(subscription.steps.map(({ status }) => status)).toEqual(['cancelling', 'cancelled']);
  });

  it('is asked to be cancelled again and again while the service does not take it: each wait is recorded, and longer than the one before', async () => {
    const subscription = new FakeSubscription(await inDays(30));
    subscription.onCancel = 'fails';
    await withSubscription(environment, subscription, async (running) => {
      // A run that has read the wish already is woken by the act all the same, out of its first wait.
      await environment.sleep('1 day');
      subscription.change({ cancelRequested: true });
      await running.signal(operatorActedSignal);
      await environment.sleep('20 seconds');
      const explained = await running.query(explainQuery);
      expect(explained).toMatchObject({
        status: 'cancelling',
        failure: 'timeout',
        now: expect.stringContaining('has not accepted the cancellation'),
      });
      expect(explained.next).toContain('A case is opened if');
      subscription.onCancel = 'accepts';
      subscription.onLookUp = () => {
        subscription.change({ endedAs: 'cancelled' });
        return FOUND;
      };
      expect(await running.result()).toMatchObject({ status: 'cancelled' });
      const { events } = await running.fetchHistory();
      const timers = (events ?? []).filter(({ userMetadata }) =>
        Buffer.from(userMetadata?.summary?.data ?? [])
          .toString()
          .includes('Request the cancellation again (timeout)'),
      );
      // The act that began it may end the first wait at once.
      expect(timers.length).toBeGreaterThanOrEqual(subscription.cancels.length - 2);
      const lengths = timers.map(({ timerStartedEventAttributes: timer }) =>
        Number(timer?.startToFireTimeout?.seconds ?? 0),
      );
      expect(lengths).toEqual([...new Set(lengths)].toSorted((left, right) => left - right));
    });
    const [asked, ...again] = subscription.cancels;
    expect(again.length).toBeGreaterThan(2);
    const waits = again.map((at, n) => at - ([asked, ...again][n] ?? 0));
    // The first ones are so short that what runs beside them, in real time, may be longer.
    expect(waits.slice(2)).toEqual(waits.slice(2).toSorted((left, right) => left - right));
    expect(subscription.steps.filter(({ event }) => event === 'vpn_subscription.cancel_unanswered')).toHaveLength(
      again.length,
    );
  });

  it('that the service does not take to cancel for long is shown to a person, and is asked again until the service takes it', async () => {
    const subscription = new FakeSubscription(await inDays(30));
    subscription.onCancel = 'fails';
    await withSubscription(environment, subscription, async (running) => {
      subscription.change({ cancelRequested: true });
      await running.signal(operatorActedSignal);
      await environment.sleep('2 hours');
      expect(await running.query(explainQuery)).toMatchObject({
        status: 'needs_attention',
        attention: 'service_not_answering',
      });
      expect(subscription.steps.at(-1)?.attention?.detail).toContain('No answer came.');
      const asked = subscription.cancels.length;
      await environment.sleep('1 day');
      expect(subscription.cancels.length).toBeGreaterThan(asked);
      subscription.onCancel = 'accepts';
      subscription.onLookUp = () => {
        subscription.change({ endedAs: 'cancelled' });
        return FOUND;
      };
      expect(await running.result()).toMatchObject({ status: 'cancelled' });
    });
  });

  it('whose cancellation the service refuses waits for a person, and lives on when that person says so', async () => {
    const subscription = new FakeSubscription(await inDays(30));
    subscription.onCancel = 'refuses';
    await withSubscription(environment, subscription, async (running) => {
      subscription.change({ cancelRequested: true });
      await running.signal(operatorActedSignal);
      await environment.sleep('1 hour');
      const asked = subscription.cancels.length;
      await environment.sleep('2 days');
      expect(await running.query(explainQuery)).toMatchObject({
        status: 'needs_attention',
        attention: 'cancellation_refused',
      });
      expect(subscription.cancels).toHaveLength(asked);
      subscription.judge('active', { cancelRequested: false });
      await running.signal(operatorActedSignal);
      expect(await running.result()).toMatchObject({ status: 'expired' });
    });
  });

  it('that has ended before a run begins ends that run at once', async () => {
    const subscription = new FakeSubscription(undefined);
    subscription.status = 'expired';
    await withSubscription(environment, subscription, async (running) =>
      expect(await running.result()).toMatchObject({ status: 'expired' }),
    );
  });
});
