import { randomUUID } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/common';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PurchaseActivities, StepRecord, SubscriptionActivities, SubscriptionView, WorkSnapshot } from '#activities/work-types.ts';
import { isFinal, type FinalStatus, type WorkStatus } from '#domain/lifecycle.ts';
import { POLICY, workflowBundle } from '#test/support/order-workflow.ts';
import { createTimeSkippingEnvironment } from '#test/support/time-skipping.ts';
import { explainQuery, operatorActedSignal, serviceObservedSignal, WORK_FINISHED } from '#workflows/messages.ts';
import { vpnSubscriptionWorkflow } from '#workflows/vpn-subscription.ts';

const DAY_MS = 86_400_000;

let environment: TestWorkflowEnvironment;
beforeAll(async () => {
  environment = await createTimeSkippingEnvironment();
});
afterAll(() => environment.teardown());

/** Fakes over a small record of one subscription that was bought. */
class FakeSubscription {
  readonly id = `vpn_${randomUUID()}`;
  readonly steps: StepRecord[] = [];
  readonly cancels: number[] = [];
  asked = 0;
  status: WorkStatus = 'active';
  view: SubscriptionView;
  /** What the service answers when it is asked; undefined when it cannot be asked. */
  onAsk: (() => void) | undefined;
  onCancel: 'accepts' | 'refuses' | 'fails' = 'accepts';

  constructor(expiresAt: number | undefined) {
    this.view = { isActive: true, cancelRequested: false, cancelAccepted: false, ...(expiresAt !== undefined && { expiresAt }) };
  }

  change(change: Partial<SubscriptionView>): void {
    this.view = { ...this.view, ...change };
  }

  activities(now: () => Promise<number>): Pick<PurchaseActivities, 'beginWork' | 'recordStep'> & SubscriptionActivities {
    return {
      beginWork: async () => {
        if (isFinal(this.status)) throw ended(this.status);
        return this.#snapshot();
      },
      recordStep: async (step) => {
        this.steps.push(step);
        this.status = step.status;
        return 'recorded';
      },
      cancelSubscription: async () => {
        this.cancels.push(await now());
        if (this.onCancel === 'fails') throw ApplicationFailure.retryable('no answer', 'timeout');
        if (this.onCancel === 'refuses') return { kind: 'refused', detail: 'The service answered 422.' };
        this.change({ cancelAccepted: true });
        return { kind: 'accepted' };
      },
      askSubscription: async () => {
        this.asked += 1;
        this.onAsk?.();
        return this.onAsk !== undefined;
      },
    };
  }

  #snapshot(): WorkSnapshot {
    const attention = this.steps.at(-1)?.attention?.reason;
    return {
      status: this.status,
      acceptedAt: 0,
      attempt: {
        id: 'att_1',
        number: 1,
        state: 'completed',
        settled: false,
        named: true,
        history: { firstSentAt: 0, sends: 1, anyUnknown: false },
      },
      extraAttempts: 0,
      observations: [],
      subscription: this.view,
      ...(attention !== undefined && this.status === 'needs_attention' && { attention }),
    };
  }
}

function ended(status: FinalStatus): ApplicationFailure {
  return ApplicationFailure.create({ type: WORK_FINISHED, nonRetryable: true, message: 'ended', details: [{ status }] });
}

type Handle = Awaited<ReturnType<typeof start>>;

async function withSubscription<Result>(subscription: FakeSubscription, work: (handle: Handle) => Promise<Result>): Promise<Result> {
  const taskQueue = randomUUID();
  const worker = await Worker.create({
    connection: environment.nativeConnection,
    taskQueue,
    workflowBundle: await workflowBundle(),
    activities: subscription.activities(() => environment.currentTimeMs()),
  });
  return worker.runUntil(async () => work(await start(subscription, taskQueue)));
}

function start({ id }: FakeSubscription, taskQueue: string) {
  return environment.client.workflow.start(vpnSubscriptionWorkflow, {
    workflowId: `vpn_subscription/${id}`,
    taskQueue,
    args: [{ work: { kind: 'vpn_subscription', id }, policy: POLICY }],
  });
}

const inDays = async (days: number) => (await environment.currentTimeMs()) + days * DAY_MS;
const observed = { inboxId: '1', source: 'webhook', attemptNumber: 1, outcome: 'completed', decision: 'advance' } as const;

describe('a VPN subscription', () => {
  it('of two years sleeps through them, and expires by its time even when no event ever tells [spec: state.vpn.expired]', async () => {
    const subscription = new FakeSubscription(await inDays(730));
    const handle = await withSubscription(subscription, async (running) => {
      await environment.sleep('700 days');
      expect(await running.query(explainQuery)).toMatchObject({ status: 'active' });
      expect(subscription.asked).toBe(0);
      expect(await running.result()).toEqual({ status: 'expired' });
      return running;
    });
    expect(subscription.asked).toBe(1);
    const { events = [] } = await handle.fetchHistory();
    expect(events?.length).toBeLessThan(40);
  });

  it('that was renewed, as the service says when it is asked at the end, lives on', async () => {
    const subscription = new FakeSubscription(await inDays(30));
    const renewed = await inDays(60);
    subscription.onAsk = () => subscription.change({ expiresAt: renewed });
    await withSubscription(subscription, async (running) => {
      await environment.sleep('45 days');
      expect(await running.query(explainQuery)).toMatchObject({ status: 'active' });
      expect(await running.result()).toEqual({ status: 'expired' });
    });
    expect(await environment.currentTimeMs()).toBeGreaterThanOrEqual(renewed);
  });

  it('whose end is not known is looked at once a day, and ends when the service says so', async () => {
    const subscription = new FakeSubscription(undefined);
    subscription.onAsk = () => {
      if (subscription.asked === 5) subscription.change({ endedAs: 'expired' });
    };
    const began = await environment.currentTimeMs();
    await withSubscription(subscription, async (running) => expect(await running.result()).toEqual({ status: 'expired' }));
    expect((await environment.currentTimeMs()) - began).toBeGreaterThanOrEqual(5 * DAY_MS);
  });

  it('ends at once when the service says that it has', async () => {
    const subscription = new FakeSubscription(await inDays(30));
    await withSubscription(subscription, async (running) => {
      await environment.sleep('1 day');
      subscription.change({ endedAs: 'cancelled' });
      await running.signal(serviceObservedSignal, observed);
      expect(await running.result()).toEqual({ status: 'cancelled' });
    });
    expect(subscription.steps.at(-1)).toMatchObject({ status: 'cancelled', applied: ['1'] });
  });

  it('answers at once what the service says of it while it lives on', async () => {
    const subscription = new FakeSubscription(await inDays(30));
    await withSubscription(subscription, async (running) => {
      await environment.sleep('1 day');
      await running.signal(serviceObservedSignal, observed);
      await environment.sleep('1 hour');
      expect(subscription.steps).toMatchObject([{ status: 'active', applied: ['1'] }]);
      expect(await running.result()).toEqual({ status: 'expired' });
    });
  });

  it('that its customer ends is cancelled, and the service is asked when no event confirms it', async () => {
    const subscription = new FakeSubscription(await inDays(30));
    subscription.onAsk = () => {
      if (subscription.asked === 3) subscription.change({ endedAs: 'cancelled' });
    };
    await withSubscription(subscription, async (running) => {
      subscription.change({ cancelRequested: true });
      await running.signal(operatorActedSignal);
      expect(await running.result()).toEqual({ status: 'cancelled' });
    });
    expect(subscription.cancels).toHaveLength(1);
    expect(subscription.steps.map(({ status }) => status)).toEqual(['cancelling', 'cancelled']);
  });

  it('whose cancellation the service refuses waits for a person, and lives on when that person says so', async () => {
    const subscription = new FakeSubscription(await inDays(30));
    subscription.onCancel = 'refuses';
    await withSubscription(subscription, async (running) => {
      subscription.change({ cancelRequested: true });
      await running.signal(operatorActedSignal);
      await environment.sleep('1 hour');
      const asked = subscription.cancels.length;
      await environment.sleep('2 days');
      expect(await running.query(explainQuery)).toMatchObject({ status: 'needs_attention', attention: 'cancellation_refused' });
      expect(subscription.cancels).toHaveLength(asked);
      subscription.change({ cancelRequested: false });
      subscription.status = 'active';
      await running.signal(operatorActedSignal);
      expect(await running.result()).toEqual({ status: 'expired' });
    });
  });

  it('that has ended before a run begins ends that run at once', async () => {
    const subscription = new FakeSubscription(undefined);
    subscription.status = 'expired';
    await withSubscription(subscription, async (running) => expect(await running.result()).toEqual({ status: 'expired' }));
  });
});
