import { randomUUID } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/common';
import type {
  PurchaseActivities,
  StepRecord,
  SubscriptionActivities,
  SubscriptionLookUp,
  SubscriptionSnapshot,
  WorkSnapshot,
} from '#domain/purchase/results.ts';
import type { SubscriptionEnd } from '#domain/relay/observation.ts';
import type { AttentionReason } from '#domain/work/attention.ts';
import { isFinal, type WorkStatus } from '#domain/work/lifecycle.ts';
import { timeSkippingEnvironment } from '#test/support/servers/time-skipping.ts';
import { newAttempt } from '#test/support/work/workflows/fake-order-rules.ts';
import { POLICY, withWorker } from '#test/support/work/workflows/order-workflow.ts';
import { operatorActedSignal, WORK_FINISHED } from '#workflows/messages.ts';
import { vpnSubscriptionWorkflow } from '#workflows/vpn-subscription.ts';

/** The look-up at a service without that call. */
const NO_SUCH_CALL: SubscriptionLookUp = { kind: 'not_known', detail: 'This service has no such call.' };
export const FOUND: SubscriptionLookUp = { kind: 'found' };
export const OUT_OF_ORDER: SubscriptionLookUp = {
  kind: 'unavailable',
  failure: { class: 'server_error', detail: 'The service answered 503.' },
};

/** Typed fakes of the activities for one bought subscription. */
export class FakeSubscription {
  readonly id = `vpn_${randomUUID()}`;
  readonly steps: StepRecord[] = [];
  readonly cancels: number[] = [];
  /** Times of the look-ups at the service, in epoch milliseconds. */
  readonly lookUpTimes: number[] = [];
  /** Number of stored deliveries. */
  completions = 0;
  status: WorkStatus = 'active';
  view: SubscriptionSnapshot;
  /** Reason of its case, before a step records one. */
  attention: AttentionReason | undefined;
  /** The answer of the service to a look-up. It may change the stored state first. */
  onLookUp: () => SubscriptionLookUp = () => NO_SUCH_CALL;
  onCancel: 'accepts' | 'refuses' | 'fails' = 'accepts';

  /** @param script its state, and how the service treats it. */
  constructor(expiresAt: number | undefined, script: Partial<FakeSubscription> = {}) {
    this.view = { isActive: true, cancelRequested: false, ...(expiresAt !== undefined && { expiresAt }) };
    Object.assign(this, script);
  }

  change(change: Partial<SubscriptionSnapshot>): void {
    this.view = { ...this.view, ...change };
  }

  /** The service shows its end from this look-up on. */
  endsAs(endedAs: SubscriptionEnd, lookUp = 1): void {
    this.onLookUp = () => {
      if (this.lookUps >= lookUp) this.change({ endedAs });
      return FOUND;
    };
  }

  /** Simulates that PostgreSQL loses its completion. */
  loseCompletion(): void {
    this.change({ isActive: false });
    this.status = 'processing';
  }

  get lookUps(): number {
    return this.lookUpTimes.length;
  }

  /** Stores the effect of an operator's verdict. */
  judge(status: WorkStatus, change: Partial<SubscriptionSnapshot> = {}): void {
    this.status = status;
    this.attention = undefined;
    this.change(change);
  }

  /** Stores the effect of a `retry` of a cancellation that the service has not confirmed. */
  cancelAgain(): void {
    const { cancelAcceptedAt: _forgotten, ...view } = this.view;
    this.view = view;
    this.judge('cancelling');
  }

  activities(
    now: () => Promise<number>,
  ): Pick<PurchaseActivities, 'beginWork' | 'recordStep' | 'completePurchase'> & SubscriptionActivities {
    return {
      beginWork: async () => {
        const { status } = this;
        if (isFinal(status)) throw ApplicationFailure.nonRetryable('ended', WORK_FINISHED, { status });
        return this.#snapshot();
      },
      recordStep: async (step) => {
        this.steps.push(step);
        this.status = step.status;
        this.attention = step.attention?.reason;
        return 'recorded';
      },
      completePurchase: async () => {
        this.completions += 1;
        this.change({ isActive: true });
        this.status = 'active';
        return { kind: 'completed' };
      },
      cancelSubscription: async () => {
        this.cancels.push(await now());
        if (this.onCancel === 'fails')
          return { kind: 'unavailable', failure: { class: 'timeout', detail: 'No answer came.' } };
        if (this.onCancel === 'refuses') return { kind: 'refused', detail: 'The service answered 422.' };
        this.change({ cancelAcceptedAt: await now() });
        return { kind: 'accepted' };
      },
      lookUpSubscription: async () => {
        this.lookUpTimes.push(await now());
        return this.onLookUp();
      },
    };
  }

  #snapshot(): WorkSnapshot {
    const failure = this.steps.at(-1)?.failure?.class;
    return {
      status: this.status,
      acceptedAt: 0,
      attempt: {
        ...newAttempt(1),
        state: 'completed',
        named: true,
        history: { firstSentAt: 0, sends: 1, anyUnknown: false },
      },
      extraAttempts: 0,
      observations: [],
      subscription: this.view,
      ...(this.attention !== undefined && { attention: this.attention }),
      ...(failure !== undefined && { failure }),
    };
  }
}

/** The time in this many days, in epoch milliseconds. */
export async function inDays(days: number): Promise<number> {
  return (await (await timeSkippingEnvironment()).currentTimeMs()) + days * 86_400_000;
}

type Handle = Awaited<ReturnType<typeof start>>;

/** Runs a worker with the fakes while `work` uses the workflow of the subscription. */
export async function withSubscription<Result>(
  subscription: FakeSubscription,
  work: (handle: Handle) => Promise<Result>,
): Promise<Result> {
  return withWorker(subscription, async (taskQueue) => work(await start(subscription, taskQueue)));
}

async function start({ id }: FakeSubscription, taskQueue: string) {
  const { client } = await timeSkippingEnvironment();
  return client.workflow.start(vpnSubscriptionWorkflow, {
    workflowId: `vpn_subscription/${id}`,
    taskQueue,
    args: [{ work: { kind: 'vpn_subscription', id }, policy: POLICY }],
  });
}

export async function endOf(subscription: FakeSubscription) {
  return withSubscription(subscription, (running) => running.result());
}

/** As its customer requests it. */
export async function cancel(subscription: FakeSubscription, running: Handle): Promise<void> {
  subscription.change({ cancelRequested: true });
  await running.signal(operatorActedSignal);
}
