import { randomUUID } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/common';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import type {
  PurchaseActivities,
  StepRecord,
  SubscriptionActivities,
  SubscriptionLookUp,
  SubscriptionSnapshot,
  WorkSnapshot,
} from '#activities/work/work-types.ts';
import type { AttentionReason } from '#domain/work/attention.ts';
import { isFinal, type FinalStatus, type WorkStatus } from '#domain/work/lifecycle.ts';
import { POLICY, withWorker } from '#test/support/work/order-workflow.ts';
import { WORK_FINISHED } from '#workflows/messages.ts';
import { vpnSubscriptionWorkflow } from '#workflows/vpn-subscription.ts';

/** What a service says that has no call for it. */
const NO_SUCH_CALL: SubscriptionLookUp = { kind: 'not_known', detail: 'This service has no such call.' };
export const TOLD: SubscriptionLookUp = { kind: 'found' };
export const OUT_OF_ORDER: SubscriptionLookUp = {
  kind: 'unavailable',
  failure: { class: 'server_error', detail: 'The service answered 503.' },
};

/** Fakes over a small record of one subscription that was bought. */
export class FakeSubscription {
  readonly id = `vpn_${randomUUID()}`;
  readonly steps: StepRecord[] = [];
  readonly cancels: number[] = [];
  /** When the service was asked how it stands, in epoch milliseconds. */
  readonly questions: number[] = [];
  /** How often what was bought was read and stored. */
  completions = 0;
  status: WorkStatus = 'active';
  view: SubscriptionSnapshot;
  /** What it waits for a person for, before a step says so. */
  parkedFor: AttentionReason | undefined;
  /** What the service answers when it is asked; it may change what is stored before. */
  onAsk: () => SubscriptionLookUp = () => NO_SUCH_CALL;
  onCancel: 'accepts' | 'refuses' | 'fails' = 'accepts';

  constructor(expiresAt: number | undefined) {
    this.view = { isActive: true, cancelRequested: false, ...(expiresAt !== undefined && { expiresAt }) };
  }

  change(change: Partial<SubscriptionSnapshot>): void {
    this.view = { ...this.view, ...change };
  }

  /** PostgreSQL loses its completion. */
  loseCompletion(): void {
    this.change({ isActive: false });
    this.status = 'processing';
  }

  /** How often the service was asked how it stands. */
  get asked(): number {
    return this.questions.length;
  }

  /** What a person does who judges the case: PostgreSQL has it as going on. */
  judge(status: WorkStatus, change: Partial<SubscriptionSnapshot> = {}): void {
    this.status = status;
    this.parkedFor = undefined;
    this.change(change);
  }

  /** What a `retry` makes of a cancellation that the service does not see through. */
  askToCancelAnew(): void {
    const { cancelAcceptedAt: _forgotten, ...view } = this.view;
    this.view = view;
    this.judge('cancelling');
  }

  activities(
    now: () => Promise<number>,
  ): Pick<PurchaseActivities, 'beginWork' | 'recordStep' | 'completePurchase'> & SubscriptionActivities {
    return {
      beginWork: async () => {
        if (isFinal(this.status)) throw ended(this.status);
        return this.#snapshot();
      },
      recordStep: async (step) => {
        this.steps.push(step);
        this.status = step.status;
        this.parkedFor = step.attention?.reason;
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
        this.questions.push(await now());
        return this.onAsk();
      },
    };
  }

  #snapshot(): WorkSnapshot {
    const failure = this.steps.at(-1)?.failure?.class;
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
      ...(this.parkedFor !== undefined && { attention: this.parkedFor }),
      ...(failure !== undefined && { failure }),
    };
  }
}

function ended(status: FinalStatus): ApplicationFailure {
  return ApplicationFailure.create({
    type: WORK_FINISHED,
    nonRetryable: true,
    message: 'ended',
    details: [{ status }],
  });
}

type Handle = Awaited<ReturnType<typeof start>>;

/** Runs a worker with the fakes while `work` talks to the workflow of the subscription. */
export async function withSubscription<Result>(
  environment: TestWorkflowEnvironment,
  subscription: FakeSubscription,
  work: (handle: Handle) => Promise<Result>,
): Promise<Result> {
  return withWorker(environment, subscription, async (taskQueue) =>
    work(await start(environment, subscription, taskQueue)),
  );
}

function start(environment: TestWorkflowEnvironment, { id }: FakeSubscription, taskQueue: string) {
  return environment.client.workflow.start(vpnSubscriptionWorkflow, {
    workflowId: `vpn_subscription/${id}`,
    taskQueue,
    args: [{ work: { kind: 'vpn_subscription', id }, policy: POLICY }],
  });
}
