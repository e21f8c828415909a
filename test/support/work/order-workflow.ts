import { randomUUID } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/common';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import { inject } from 'vitest';
import type {
  AttemptSnapshot,
  PurchaseActivities,
  WorkSnapshot,
  SendResult,
  StepRecord,
} from '#activities/work/work-types.ts';
import {
  judgeAbandon,
  judgeRelease,
  judgeRetry,
  judgeRetryChange,
  type OperatedWork,
  type OperatorAction,
} from '#domain/operator/operator-actions.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import type { PurchasePolicy } from '#domain/policy/purchase-policy.ts';
import { costNothing } from '#domain/purchase/purchase-decision.ts';
import { knowsMore, restoration, type Witness } from '#domain/purchase/restored-records.ts';
import type { AttemptState } from '#domain/relay/observation.ts';
import { changedOverrides, type RetryOverrides } from '#domain/retry/retry-rules.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import { quietRuntime } from '#test/support/work/quiet-runtime.ts';
import { ACTION_REFUSED, WORK_FINISHED, type PurchaseWorkflowInput } from '#workflows/messages.ts';
import { orderWorkflow } from '#workflows/order.ts';

quietRuntime();

/** The workflows as production bundles them, once for all test files. */
export function bundledWorkflows(): { readonly codePath: string } {
  return { codePath: inject('bundledWorkflows') };
}

/** What one scripted send of the fake service comes to. */
export type ScriptedSend =
  | { readonly answers: 'processing' | 'completed' | 'failed' }
  | { readonly fails: FailureClass; readonly retryAfterMs?: number }
  /** The worker dies: the activity fails without a result. */
  | { readonly dies: 'before the send' | 'after the send' }
  | { readonly leasedForMs: number }
  /** What the service said is not judged yet. */
  | 'is barred'
  /** The activity came to a worker only when the window was over. */
  | 'comes too late'
  | 'is revoked'
  /** The purchase gate does not let it through. */
  | { readonly gated: FailureClass; readonly recheckMs: number };

/**
 * Typed fakes of the order activities over a small record of one order, scripted send by send. They keep what the real
 * ones keep in PostgreSQL, so that a workflow that reloads sees what it would see there.
 */
export class FakeOrder {
  readonly orderId = `ord_${randomUUID()}`;
  readonly steps: StepRecord[] = [];
  readonly sent: { attempt: number; at: number }[] = [];
  readonly calls: string[] = [];
  attemptsInForce = Infinity;
  lookUps: ('found processing' | 'found completed' | 'found failed' | 'not_found')[] = [];
  evidence: ('no_debit' | 'credited' | 'debited' | 'unavailable')[] = [];
  absences: ('absent' | 'unproven' | 'not asked')[] = [];
  deadlineAt: number | undefined;
  finished: { status: 'completed' | 'failed' | 'abandoned'; esimId?: string } | undefined;
  delivery: 'delivered' | 'unreadable' | 'fails' = 'delivered';
  readonly acts: OperatorAction[] = [];
  /** PostgreSQL loses what was recorded of this many sends, once. */
  losesSendsAfter: number | undefined;
  retryOverrides: RetryOverrides = {};
  /** When its row says that it goes on. */
  #nextStepAt: number | undefined;
  #extraAttempts = 0;
  readonly #sends: ScriptedSend[];
  readonly #acceptedAt: number;
  #attempt: AttemptSnapshot = newAttempt(1);

  constructor(sends: ScriptedSend[], acceptedAt: number) {
    this.#sends = [...sends];
    this.#acceptedAt = acceptedAt;
  }

  /** What the relay does when the service says something: store it, before it tells the workflow. */
  observe(state: AttemptState): void {
    this.#set({ state });
  }

  /** What a retry leaves in the row of what is held. */
  goOnNow(): void {
    this.#nextStepAt = 0;
  }

  get attempt(): AttemptSnapshot {
    return this.#attempt;
  }

  activities(now: () => Promise<number>): PurchaseActivities {
    return {
      beginWork: async ({ witness }) => {
        this.calls.push('beginWork');
        this.#refuseFinished();
        const { state, history } = this.#attempt;
        if (
          witness?.number === this.#attempt.number &&
          restoration(witness, { state, sends: history.sends }) === 'doubt'
        ) {
          const sends = Math.max(history.sends, witness.sends);
          this.#set({
            state: 'unknown',
            history: {
              firstSentAt: witness.firstSentAt,
              firstUnrefusedSendAt: witness.firstUnrefusedSendAt,
              sends,
              anyUnknown: true,
            },
          });
        }
        return this.#snapshot();
      },
      openNextAttempt: async ({ number }) => {
        this.calls.push(`openNextAttempt ${number}`);
        if (number > this.attemptsInForce) return { kind: 'not_allowed', attempts: this.attemptsInForce };
        if (this.#attempt.number !== number) this.#attempt = newAttempt(number);
        return { kind: 'opened', attempt: this.#attempt };
      },
      sendPurchase: async ({ witness }) => this.#send(await now(), witness),
      lookUpPurchase: async () => {
        this.calls.push('lookUpPurchase');
        const next = this.lookUps.shift() ?? 'not_found';
        if (next === 'not_found') return { kind: 'not_found' };
        const outcome = next.split(' ')[1] as 'processing' | 'completed' | 'failed';
        this.#set({ state: outcome });
        return { kind: 'found', outcome };
      },
      proveAbsence: async () => {
        this.calls.push('proveAbsence');
        const next = this.absences.shift() ?? 'unproven';
        if (next === 'absent') this.#set({ history: { ...this.#attempt.history, firstUnrefusedSendAt: await now() } });
        return next === 'absent'
          ? { kind: 'absent' }
          : { kind: 'unproven', mayPass: next === 'not asked', detail: 'The wallet shows nothing.' };
      },
      readDebitEvidence: async () => {
        this.calls.push('readDebitEvidence');
        const evidence = this.evidence.shift() ?? 'unavailable';
        if (costNothing(evidence)) this.#set({ settled: true });
        return { evidence, detail: `Evidence: ${evidence}.` };
      },
      completePurchase: async () => {
        this.calls.push('completePurchase');
        if (this.delivery === 'fails')
          return { kind: 'not_yet', reason: 'timeout', detail: 'The service does not answer.' };
        if (this.delivery === 'unreadable') return { kind: 'unreadable', detail: 'No activation code.' };
        this.finished = { status: 'completed', esimId: 'esim_1' };
        return { kind: 'completed', esimId: 'esim_1' };
      },
      recordStep: async (step) => {
        this.#refuseFinished();
        if (
          step.status === 'failed' &&
          ['sending', 'unknown', 'processing', 'completed'].includes(this.#attempt.state)
        ) {
          return 'may_be_bought';
        }
        this.steps.push(step);
        this.#nextStepAt = step.nextStepAt;
        if (step.status === 'failed') this.finished = { status: 'failed' };
        return 'recorded';
      },
      actOnWork: async ({ action }) => this.#act(action),
    };
  }

  /** By the same rules as the real one. */
  #act(action: OperatorAction): 'applied' {
    const last = this.steps.at(-1);
    const attention = last?.attention?.reason ?? null;
    const work = {
      status: last?.status ?? ('submitting' as const),
      attempt: this.#attempt,
      openContradiction: attention === 'contradiction',
      observationsPending: false,
    };
    const judged = this.#judge(work, action);
    if (judged !== 'allowed') throw ApplicationFailure.nonRetryable(judged, ACTION_REFUSED);
    this.acts.push(action);
    if (action.action === 'change_retry') this.retryOverrides = changedOverrides(this.retryOverrides, action.change);
    if (action.action === 'retry' || action.action === 'change_limit') this.#nextStepAt = 0;
    if (action.action === 'retry' && attention === 'attempts_used_up') this.#extraAttempts += 1;
    if (action.action === 'abandon') this.finished = { status: 'abandoned' };
    if (action.action === 'resolve' && action.verdict === 'not_bought') this.#set({ state: 'failed', settled: true });
    if (action.action === 'resolve' && action.verdict === 'bought') this.#set({ state: 'completed' });
    return 'applied';
  }

  #judge(work: OperatedWork, action: OperatorAction) {
    switch (action.action) {
      case 'retry':
        return judgeRetry(work, false);
      case 'release':
        return judgeRelease(work, false);
      case 'abandon':
        return judgeAbandon(work);
      case 'change_retry':
        return judgeRetryChange(
          work,
          this.retryOverrides,
          changedOverrides(this.retryOverrides, action.change),
          this.#acceptedAt,
        );
      case 'change_limit':
      case 'resolve':
        return 'allowed';
    }
  }

  #send(at: number, witness?: Witness): SendResult {
    this.#refuseFinished();
    const { state } = this.#attempt;
    if (state === 'processing' || state === 'completed' || state === 'failed') {
      return { outcome: { kind: 'accepted', outcome: state }, attempt: this.#attempt };
    }
    if (this.losesSendsAfter === this.sent.length) {
      this.losesSendsAfter = undefined;
      this.#attempt = newAttempt(this.#attempt.number);
    }
    const {
      number,
      state: inRow,
      history: { sends },
    } = this.#attempt;
    if (witness !== undefined && knowsMore(witness, { number, state: inRow, sends })) {
      return { outcome: { kind: 'records_lost' }, attempt: this.#attempt };
    }
    const script = this.#sends.shift();
    if (script === undefined) throw ApplicationFailure.nonRetryable('the test scripted no further send');
    if (script === 'is barred')
      return { outcome: { kind: 'barred', by: 'observations_pending' }, attempt: this.#attempt };
    const notSent = { 'comes too late': 'too_late', 'is revoked': 'resend_not_allowed' } as const;
    if (typeof script === 'string') return { outcome: { kind: notSent[script] }, attempt: this.#attempt };
    if ('leasedForMs' in script) {
      return { outcome: { kind: 'lease_held', retryAfterMs: script.leasedForMs }, attempt: this.#attempt };
    }
    if ('gated' in script) {
      const { gated: failure, recheckMs } = script;
      return { outcome: { kind: 'gated', failure, detail: 'The gate is closed.', recheckMs }, attempt: this.#attempt };
    }
    if ('dies' in script && script.dies === 'before the send') throw ApplicationFailure.nonRetryable('killed');

    this.sent.push({ attempt: this.#attempt.number, at });
    const { history } = this.#attempt;
    const { firstSentAt = at, firstUnrefusedSendAt = at } = history;
    this.#set({
      state: 'sending',
      history: { ...history, sends: history.sends + 1, firstSentAt, firstUnrefusedSendAt },
    });
    if ('dies' in script) {
      this.#set({ history: { ...this.#attempt.history, anyUnknown: true } });
      throw ApplicationFailure.nonRetryable('killed');
    }
    if ('answers' in script) {
      this.#set({ state: script.answers });
      return { outcome: { kind: 'accepted', outcome: script.answers }, attempt: this.#attempt };
    }
    return this.#fail(script);
  }

  #fail(script: { fails: FailureClass; retryAfterMs?: number }): SendResult {
    const definite = ![
      'timeout',
      'connection_lost',
      'server_error',
      'unreadable_answer',
      'contract_drift',
      'key_or_reference_used',
    ].includes(script.fails);
    const anyUnknown = this.#attempt.history.anyUnknown || !definite;
    this.#set({
      state: anyUnknown ? 'unknown' : 'refused',
      history: {
        ...this.#attempt.history,
        anyUnknown,
        firstUnrefusedSendAt: anyUnknown ? this.#attempt.history.firstUnrefusedSendAt : undefined,
      },
      failure: { class: script.fails, detail: `It was ${script.fails}.` },
    });
    const { fails: failure, retryAfterMs } = script;
    return {
      outcome: { kind: 'failure', failure, ...(retryAfterMs !== undefined && { retryAfterMs }) },
      attempt: this.#attempt,
    };
  }

  #snapshot(): WorkSnapshot {
    const attention = this.steps.at(-1)?.attention?.reason;
    return {
      status: this.steps.at(-1)?.status ?? 'accepted',
      acceptedAt: this.#acceptedAt,
      attempt: this.#attempt,
      extraAttempts: this.#extraAttempts,
      retryOverrides: this.retryOverrides,
      ...(this.#nextStepAt !== undefined && { nextStepAt: this.#nextStepAt }),
      observations: [],
      ...(this.deadlineAt !== undefined && { deadlineAt: this.deadlineAt }),
      ...(attention !== undefined && { attention }),
    };
  }

  #refuseFinished(): void {
    if (this.finished === undefined) return;
    throw ApplicationFailure.create({
      type: WORK_FINISHED,
      nonRetryable: true,
      message: 'ended',
      details: [this.finished],
    });
  }

  #set(change: Partial<AttemptSnapshot>): void {
    this.#attempt = { ...this.#attempt, ...change };
  }
}

function newAttempt(number: number): AttemptSnapshot {
  return {
    id: `att_${number}`,
    number,
    state: 'prepared',
    settled: false,
    named: false,
    history: { firstSentAt: undefined, sends: 0, anyUnknown: false },
  };
}

/** The default policy, so that tests speak of the product's real times: they cost nothing here. */
export const POLICY: PurchasePolicy = DEFAULT_POLICY.purchase;

/** Runs a worker with the fakes while `work` uses its task queue. */
export async function withWorker<Result>(
  environment: TestWorkflowEnvironment,
  fake: { activities(now: () => Promise<number>): object },
  work: (taskQueue: string) => Promise<Result>,
): Promise<Result> {
  const taskQueue = randomUUID();
  const worker = await Worker.create({
    connection: environment.nativeConnection,
    taskQueue,
    workflowBundle: bundledWorkflows(),
    activities: fake.activities(() => environment.currentTimeMs()),
  });
  return worker.runUntil(() => work(taskQueue));
}

/** Runs a worker with the fakes while `work` talks to the workflow. */
export async function withOrder<Result>(
  environment: TestWorkflowEnvironment,
  order: FakeOrder,
  work: (start: (policy?: Partial<PurchasePolicy>) => ReturnType<typeof startOrder>) => Promise<Result>,
): Promise<Result> {
  return withWorker(environment, order, (taskQueue) =>
    work((policy = {}) => startOrder(environment, order, taskQueue, policy)),
  );
}

function startOrder(
  environment: TestWorkflowEnvironment,
  order: FakeOrder,
  taskQueue: string,
  policy: Partial<PurchasePolicy>,
) {
  const work = { kind: 'order', id: order.orderId } as const;
  const input: PurchaseWorkflowInput = { work, policy: { ...POLICY, ...policy } };
  return environment.client.workflow.start(orderWorkflow, {
    workflowId: `order/${order.orderId}`,
    taskQueue,
    args: [input],
  });
}
