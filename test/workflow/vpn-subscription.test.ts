import { describe, expect, it } from 'vitest';
import { timeSkippingEnvironment } from '#test/support/servers/time-skipping.ts';
import { needsAttention, report, shownAfter } from '#test/support/work/workflows/order-workflow.ts';
import {
  cancel,
  endOf,
  FakeSubscription,
  FOUND,
  inDays,
  withSubscription,
} from '#test/support/work/workflows/subscription-workflow.ts';
import { explainQuery, operatorActedSignal } from '#workflows/messages.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const environment = await timeSkippingEnvironment();

describe('a VPN subscription', () => {
  it('of two years waits for its end, and expires also without an event', async () => {
    const subscription = new FakeSubscription(await inDays(730));
    await withSubscription(subscription, async (running) => {
      expect(await shownAfter('700 days', running)).toMatchObject({ status: 'active' });
      expect(subscription.lookUps).toBe(0);
      expect(await running.result()).toMatchObject({ status: 'expired' });
      expect((await running.fetchHistory()).events?.length).toBeLessThan(40);
    });
    expect(subscription.lookUps).toBe(1);
  });

  it('whose completion PostgreSQL has lost is completed again when it is woken, and continues', async () => {
    const subscription = new FakeSubscription(await inDays(30));
    await withSubscription(subscription, async (running) => {
      await environment.sleep('1 day');
      subscription.loseCompletion();
      await running.signal(operatorActedSignal);
      await environment.sleep('1 day');
      expect(subscription.completions).toBe(1);
      expect(subscription.steps.filter(({ status }) => status === 'active')).toEqual([]);
      expect(await running.query(explainQuery)).toMatchObject({ status: 'active' });
    });
  });

  it('whose status says active goes on after its stated time, which may lack a zone, until the service ends it', async () => {
    const end = await inDays(30);
    const subscription = new FakeSubscription(end);
    const reallyEnds = end + 14 * HOUR_MS;
    subscription.onLookUp = () => {
      if (subscription.lookUpTimes.at(-1)! >= reallyEnds) subscription.change({ endedAs: 'expired' });
      return FOUND;
    };
    expect(await endOf(subscription)).toMatchObject({ status: 'expired' });
    expect(await environment.currentTimeMs()).toBeGreaterThanOrEqual(reallyEnds);
    // Each wait doubles the time since the stated end, which began ten minutes after it.
    const waits = subscription.lookUpTimes.map((at) => Math.log2((at - end) / (10 * MINUTE_MS)));
    expect(waits.map(Math.round)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(subscription.steps.map(({ status }) => status)).toEqual(['active', 'expired']);
  });

  it('that is being cancelled outlives its stated time by a day at most while its status says active', async () => {
    const end = await inDays(1);
    const subscription = new FakeSubscription(end, { onLookUp: () => FOUND });
    await withSubscription(subscription, async (running) => {
      await cancel(subscription, running);
      expect(await running.result()).toMatchObject({ status: 'cancelled' });
    });
    expect(await environment.currentTimeMs()).toBeGreaterThanOrEqual(end + DAY_MS);
    expect(subscription.lookUps).toBeLessThan(70);
  });

  it('without a known end is looked up once a day until the service ends it', async () => {
    const subscription = new FakeSubscription(undefined);
    subscription.endsAs('expired', 5);
    const began = await environment.currentTimeMs();
    expect(await endOf(subscription)).toMatchObject({ status: 'expired' });
    expect((await environment.currentTimeMs()) - began).toBeGreaterThanOrEqual(5 * DAY_MS);
  });

  it('ends at once when the service reports its end', async () => {
    const subscription = new FakeSubscription(await inDays(30));
    await withSubscription(subscription, async (running) => {
      await environment.sleep('1 day');
      subscription.change({ endedAs: 'cancelled' });
      await report(running);
      expect(await running.result()).toMatchObject({ status: 'cancelled' });
    });
    expect(subscription.steps.at(-1)).toMatchObject({ status: 'cancelled', applied: ['1'] });
  });

  it('is cancelled on request of its customer, with look-ups if no event confirms it', async () => {
    const subscription = new FakeSubscription(await inDays(30));
    subscription.endsAs('cancelled', 3);
    await withSubscription(subscription, async (running) => {
      await cancel(subscription, running);
      expect(await running.result()).toMatchObject({ status: 'cancelled' });
    });
    expect(subscription.cancels).toHaveLength(1);
    expect(subscription.steps.map(({ status }) => status)).toEqual(['cancelling', 'cancelled']);
  });

  it('repeats its cancellation while the service does not accept it, with recorded, growing waits', async () => {
    const subscription = new FakeSubscription(await inDays(30), { onCancel: 'fails' });
    await withSubscription(subscription, async (running) => {
      // The action wakes a run that has read the request already, and may end its first wait.
      await environment.sleep('1 day');
      await cancel(subscription, running);
      const explained = await shownAfter('20 seconds', running);
      expect(explained).toMatchObject({
        status: 'cancelling',
        failure: 'timeout',
        now: expect.stringContaining('has not accepted the cancellation'),
      });
      expect(explained.next).toContain('A case is opened if');
      subscription.onCancel = 'accepts';
      subscription.endsAs('cancelled');
      expect(await running.result()).toMatchObject({ status: 'cancelled' });
      const { events } = await running.fetchHistory();
      const timers = (events ?? []).filter(({ userMetadata }) =>
        Buffer.from(userMetadata?.summary?.data ?? []).includes('Request the cancellation again (timeout)'),
      );
      // The action that started it may end the first wait at once.
      expect(timers.length).toBeGreaterThanOrEqual(subscription.cancels.length - 2);
      const lengths = timers.map(({ timerStartedEventAttributes: of }) => Number(of?.startToFireTimeout?.seconds ?? 0));
      expect(lengths).toEqual([...new Set(lengths)].toSorted((left, right) => left - right));
    });
    const [first, ...again] = subscription.cancels;
    expect(again.length).toBeGreaterThan(2);
    const waits = again.map((at, n) => at - ([first, ...again][n] ?? 0));
    // The first waits are shorter than other steps, which take real time.
    expect(waits.slice(2)).toEqual(waits.slice(2).toSorted((left, right) => left - right));
    const unanswered = subscription.steps.filter(({ event }) => event === 'vpn_subscription.cancel_unanswered');
    expect(unanswered).toHaveLength(again.length);
  });

  it('opens a case if the service does not accept its cancellation, and repeats it until it is accepted', async () => {
    const subscription = new FakeSubscription(await inDays(30), { onCancel: 'fails' });
    await withSubscription(subscription, async (running) => {
      await cancel(subscription, running);
      expect(await shownAfter('2 hours', running)).toMatchObject(needsAttention('service_not_answering'));
      expect(subscription.steps.at(-1)?.attention?.detail).toContain('No answer came.');
      const before = subscription.cancels.length;
      await environment.sleep('1 day');
      expect(subscription.cancels.length).toBeGreaterThan(before);
      subscription.onCancel = 'accepts';
      subscription.endsAs('cancelled');
      expect(await running.result()).toMatchObject({ status: 'cancelled' });
    });
  });

  it('whose cancellation the service refuses needs attention, and continues after the verdict', async () => {
    const subscription = new FakeSubscription(await inDays(30), { onCancel: 'refuses' });
    await withSubscription(subscription, async (running) => {
      await cancel(subscription, running);
      await environment.sleep('1 hour');
      const before = subscription.cancels.length;
      expect(await shownAfter('2 days', running)).toMatchObject(needsAttention('cancellation_refused'));
      expect(subscription.cancels).toHaveLength(before);
      subscription.judge('active', { cancelRequested: false });
      await running.signal(operatorActedSignal);
      expect(await running.result()).toMatchObject({ status: 'expired' });
    });
  });

  it('that has ended ends a new run at once', async () => {
    const subscription = new FakeSubscription(undefined, { status: 'expired' });
    expect(await endOf(subscription)).toMatchObject({ status: 'expired' });
  });
});
