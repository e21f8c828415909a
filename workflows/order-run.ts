import {
  ActivityFailure,
  ApplicationFailure,
  allHandlersFinished,
  condition,
  continueAsNew,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  workflowInfo,
} from '@temporalio/workflow';
import type {
  AttemptView,
  OrderActivities,
  OrderEnd,
  OrderSnapshot,
  SendResult,
  StepRecord,
} from '#activities/order-types.ts';
import type { AttentionReason, FailureNote } from '#domain/attention.ts';
import { FAILURE_CLASSES, type FailureClass } from '#domain/failure.ts';
import { backoffMs, type PurchasePolicy } from '#domain/policy.ts';
import { afterAcceptance, decideAfterSend, decideSettlement, type NextStep } from '#domain/purchase-decision.ts';
import { ORDER_FINISHED, type OrderWorkflowInput } from '#workflows/messages.ts';
import type { ObservationQueue } from '#workflows/observations.ts';
import type { OrderProgress, Standing } from '#workflows/order-progress.ts';

// Short steps in PostgreSQL: retried until the database is back.
const database = proxyLocalActivities<Pick<OrderActivities, 'beginOrder' | 'openNextAttempt' | 'recordOrderStep'>>({
  startToCloseTimeout: '20s',
  retry: { initialInterval: '200ms', maximumInterval: '20s' },
});

// Reads of the service. One that fails is repeated by Temporal, in sight of the operator.
const reads = proxyActivities<Pick<OrderActivities, 'lookUpPurchase' | 'readDebitEvidence'>>({
  startToCloseTimeout: '2m',
  retry: { initialInterval: '1s', maximumInterval: '1m' },
});

/** A step of the run: what the domain decided, or an end, or a wait for a person. */
type Step =
  | NextStep
  | { readonly step: 'park'; readonly reason: AttentionReason; readonly detail: string; readonly failure?: FailureClass }
  | { readonly step: 'end'; readonly end: OrderEnd };

type StepNamed<Name extends Step['step']> = Extract<Step, { step: Name }>;

interface OrderRunContext {
  readonly input: OrderWorkflowInput;
  readonly snapshot: OrderSnapshot;
  readonly observations: ObservationQueue;
  readonly progress: OrderProgress;
  readonly retry: { requested: boolean };
}

/** Carries one order from where PostgreSQL says it stands to its end. */
export class OrderRun {
  readonly #context: OrderRunContext;
  readonly #policy: PurchasePolicy;
  /** Epoch milliseconds after which held work fails. */
  readonly #deadline: number;
  #attempt: AttemptView;
  #holds: number;
  #recorded = 0;
  /** Inbox rows that the next recorded step answers. */
  #answered: string[] = [];

  constructor(context: OrderRunContext) {
    const { input, snapshot } = context;
    this.#context = context;
    this.#policy = input.policy;
    this.#attempt = snapshot.attempt;
    this.#holds = input.carried?.holds ?? 0;
    this.#deadline = Math.min(snapshot.deadlineAt ?? Infinity, snapshot.acceptedAt + input.policy.holdDeadlineMs);
    for (const observation of snapshot.observations) context.observations.offer(observation);
  }

  async run(): Promise<OrderEnd> {
    const { snapshot } = this.#context;
    let step: Step =
      snapshot.attention === 'contradiction'
        ? { step: 'park', reason: 'contradiction', detail: 'Parked before this run began.' }
        : this.#fromAttempt();
    while (step.step !== 'end') step = await this.#perform(step);
    return step.end;
  }

  #perform(step: Exclude<Step, { step: 'end' }>): Promise<Step> {
    switch (step.step) {
      case 'send':
        return this.#send();
      case 'hold':
        return this.#hold(step);
      case 'resend':
        return this.#resend(step);
      case 'wait_for_lease':
        return this.#waitForLease(step);
      case 'look_up':
        return this.#lookUp(step);
      case 'await_service':
        return this.#awaitService();
      case 'deliver':
        return this.#deliver();
      case 'settle':
        return this.#settle(step);
      case 'fail':
        return this.#fail(step.failure, this.#attempt.failure?.detail ?? FAILURE_CLASSES[step.failure].meaning);
      case 'park':
        return this.#park(step);
    }
  }

  /** Where to go on from the state of the attempt, as a run that starts anew finds it. */
  #fromAttempt(): Step {
    const { state, failure } = this.#attempt;
    switch (state) {
      case 'prepared':
        return { step: 'send' };
      case 'sending':
        return this.#afterFailure('worker_lost');
      case 'unknown':
      case 'refused':
        return this.#afterFailure(failure?.class ?? 'worker_lost');
      case 'processing':
      case 'completed':
      case 'failed':
        return afterAcceptance(state);
    }
  }

  #afterFailure(failure: FailureClass, retryAfterMs?: number): Step {
    const history = { ...this.#attempt.history, holds: this.#holds };
    const outcome = { kind: 'failure', failure, ...(retryAfterMs !== undefined && { retryAfterMs }) } as const;
    return decideAfterSend(outcome, history, this.#policy, Date.now());
  }

  async #send(): Promise<Step> {
    if (!this.#context.observations.isEmpty) return this.#answerObservations();
    if (Date.now() >= this.#deadline && !this.#attempt.history.anyUnknown) {
      return this.#fail('deadline_passed', FAILURE_CLASSES.deadline_passed.meaning);
    }
    this.#show({
      status: 'submitting',
      now: `Attempt ${this.#attempt.number} is being sent to the service.`,
      next: 'The answer of the service.',
    });
    const result = await this.#sendOnce();
    if (result === undefined) return this.#afterLostSend();

    this.#attempt = result.attempt;
    const { outcome } = result;
    if (outcome.kind === 'failure') return this.#afterFailure(outcome.failure, outcome.retryAfterMs);
    return decideAfterSend(outcome, { ...result.attempt.history, holds: this.#holds }, this.#policy, Date.now());
  }

  /** One send, one Temporal attempt: the decision about another is made here, in the open. @returns undefined when the outcome was lost with the worker. */
  async #sendOnce(): Promise<SendResult | undefined> {
    const { sendPurchase } = proxyActivities<Pick<OrderActivities, 'sendPurchase'>>({
      startToCloseTimeout: this.#policy.sendActivityTimeoutMs,
      retry: { maximumAttempts: 1 },
      summary: `Send attempt ${this.#attempt.number}, send ${this.#attempt.history.sends + 1}`,
    });
    try {
      return await sendPurchase({
        orderId: this.#orderId,
        attemptId: this.#attempt.id,
      });
    } catch (error) {
      if (isCancellation(error) || !(error instanceof ActivityFailure) || finishedFailure(error) !== undefined) throw error;
      return undefined;
    }
  }

  /** The worker died, or PostgreSQL was gone when the result was to be stored: read what is known of the attempt. */
  async #afterLostSend(): Promise<Step> {
    await this.#reload();
    const { state, history } = this.#attempt;
    if (state === 'prepared' || state === 'refused') {
      // The send never began. Wait all the same, so that a worker that fails at once is not asked in a tight loop.
      const delayMs = backoffMs(this.#policy.resendDelayMs, this.#policy.resendDelayMaxMs, history.sends + 1);
      return { step: 'resend', failure: 'worker_lost', delayMs };
    }
    return this.#fromAttempt();
  }

  async #hold(step: StepNamed<'hold'>): Promise<Step> {
    await this.#continueAsNewIfLong();
    this.#holds += 1;
    const wakeAt = Math.min(Date.now() + step.delayMs, this.#deadline);
    const { meaning, advice } = FAILURE_CLASSES[step.failure];
    const detail = this.#attempt.failure?.detail ?? meaning;
    await this.#record({
      status: 'held',
      event: 'order.held',
      message: `Held: ${detail}`,
      failure: { class: step.failure, detail },
      nextStepAt: wakeAt,
      next: `The same attempt is sent again. ${advice}`,
    });
    const woken = await this.#wait(wakeAt - Date.now(), `Held (${step.failure}), hold ${this.#holds}`);
    if (woken === 'observation') return this.#answerObservations();
    if (woken === 'time' && Date.now() >= this.#deadline) {
      return this.#fail('deadline_passed', `The deadline passed while the order was held: ${detail}`);
    }
    return { step: 'send' };
  }

  async #resend(step: StepNamed<'resend'>): Promise<Step> {
    const wakeAt = Date.now() + step.delayMs;
    const detail = this.#attempt.failure?.detail ?? FAILURE_CLASSES[step.failure].meaning;
    await this.#record({
      status: 'submitting',
      event: 'attempt.resend_planned',
      message: `Outcome unknown: ${detail} The same bytes are sent again with the same key.`,
      failure: { class: step.failure, detail },
      nextStepAt: wakeAt,
      next: 'The same bytes are sent again with the same idempotency key.',
    });
    const woken = await this.#wait(step.delayMs, `Resend attempt ${this.#attempt.number} (${step.failure})`);
    return woken === 'observation' ? this.#answerObservations() : { step: 'send' };
  }

  async #waitForLease(step: StepNamed<'wait_for_lease'>): Promise<Step> {
    const woken = await this.#wait(step.delayMs, 'Another send of this attempt may still be under way');
    return woken === 'observation' ? this.#answerObservations() : { step: 'send' };
  }

  async #lookUp(step: StepNamed<'look_up'>): Promise<Step> {
    let detail = '';
    for (let n = 1; n <= this.#policy.lookUps; n += 1) {
      this.#show({
        status: 'submitting',
        now: 'The outcome of the purchase is unknown; the service is being asked.',
        next: `What the service says; if it knows nothing, a person is told (look-up ${n} of ${this.#policy.lookUps}).`,
        failure: step.failure,
      });
      const result = await reads.lookUpPurchase({ orderId: this.#orderId, attemptId: this.#attempt.id });
      if (result.kind === 'found') {
        await this.#reload();
        return this.#fromAttempt();
      }
      detail = result.kind === 'not_found' ? 'The service does not list it.' : result.failure.detail;
      if (n === this.#policy.lookUps) break;
      const delay = backoffMs(this.#policy.resendDelayMs, this.#policy.resendDelayMaxMs, n);
      if ((await this.#wait(delay, `Look up attempt ${this.#attempt.number} again`)) === 'observation') {
        return this.#answerObservations();
      }
    }
    return { step: 'park', reason: 'outcome_unknown', detail, failure: step.failure };
  }

  async #awaitService(): Promise<Step> {
    this.#show({
      status: 'processing',
      now: 'The service has accepted the order and is working on it.',
      next: 'Its webhook; should none come, the reconciler asks.',
    });
    await condition(() => !this.#context.observations.isEmpty);
    return this.#answerObservations();
  }

  async #deliver(): Promise<Step> {
    this.#show({
      status: 'processing',
      now: 'The service has completed the order; its eSIM is being fetched.',
      next: 'The eSIM is stored and the order is completed.',
    });
    const { deliverEsim } = proxyActivities<Pick<OrderActivities, 'deliverEsim'>>({
      startToCloseTimeout: '2m',
      scheduleToCloseTimeout: this.#policy.deliveryDeadlineMs,
      retry: { initialInterval: '1s', maximumInterval: '1m' },
      summary: 'Fetch the eSIM and complete the order',
    });
    try {
      const result = await deliverEsim({
        orderId: this.#orderId,
        attemptId: this.#attempt.id,
        applied: this.#takeAnswered(),
      });
      if (result.kind === 'unreadable') return { step: 'park', reason: 'contract_drift', detail: result.detail };
      this.#show({ status: 'completed', now: `The eSIM ${result.esimId} was delivered.`, next: 'Nothing: the order has ended.' });
      return { step: 'end', end: { status: 'completed', esimId: result.esimId } };
    } catch (error) {
      if (isCancellation(error) || !(error instanceof ActivityFailure) || finishedFailure(error) !== undefined) throw error;
      return { step: 'park', reason: 'delivery_unavailable', detail: 'The eSIM could not be read from the service.' };
    }
  }

  /** The service reports a failure: nothing is bought anew, and the order does not fail, without a look at the wallet. */
  async #settle(step: StepNamed<'settle'>): Promise<Step> {
    const failure = this.#attempt.failure ?? { class: step.failure, detail: FAILURE_CLASSES[step.failure].meaning };
    for (let read = 1; ; read += 1) {
      const wakeAt = Date.now() + this.#policy.settleDelayMs;
      await this.#record({
        status: 'processing',
        event: 'attempt.settling',
        message: `The service reports attempt ${this.#attempt.number} as failed; the wallet is checked before anything else.`,
        failure,
        nextStepAt: wakeAt,
        next: `The wallet is read (${read} of ${this.#policy.settleReads}).`,
      });
      const woken = await this.#wait(wakeAt - Date.now(), `Let the wallet settle, read ${read}`);
      if (woken === 'observation') return this.#answerObservations();

      const { evidence, detail } = await reads.readDebitEvidence({ orderId: this.#orderId, attemptId: this.#attempt.id });
      switch (decideSettlement(evidence, read, this.#attempt.number, this.#policy)) {
        case 'read_again':
          continue;
        case 'new_attempt':
          return this.#newAttempt(failure, detail);
        case 'park':
          return { step: 'park', reason: parkReason(evidence), detail, failure: failure.class };
      }
    }
  }

  async #newAttempt(failure: FailureNote, evidence: string): Promise<Step> {
    const { number } = this.#attempt;
    const wakeAt = Date.now() + backoffMs(this.#policy.attemptDelayMs, this.#policy.holdDelayMaxMs, number);
    if (wakeAt >= this.#deadline) return this.#fail('deadline_passed', `${failure.detail} ${evidence}`);
    await this.#record({
      status: 'held',
      event: 'order.held',
      message: `Attempt ${number} failed and cost nothing. ${evidence} A new attempt follows.`,
      failure,
      nextStepAt: wakeAt,
      next: `Attempt ${number + 1} of at most ${this.#policy.maxAttempts}.`,
    });
    const woken = await this.#wait(wakeAt - Date.now(), `Before attempt ${number + 1}`);
    if (woken === 'observation') return this.#answerObservations();
    this.#attempt = await database.openNextAttempt({ orderId: this.#orderId, number: number + 1 });
    this.#holds = 0;
    return this.#fromAttempt();
  }

  async #fail(failure: FailureClass, detail: string): Promise<Step> {
    const recorded = await this.#record({
      status: 'failed',
      event: 'order.failed',
      message: `Failed for good, and nothing was bought: ${detail}`,
      failure: { class: failure, detail },
      next: 'Nothing: the order has ended.',
    });
    if (recorded === 'may_be_bought') {
      await this.#reload();
      return this.#fromAttempt();
    }
    return { step: 'end', end: { status: 'failed', failure } };
  }

  async #park(step: StepNamed<'park'>): Promise<Step> {
    const failure = step.failure === undefined ? undefined : (this.#attempt.failure ?? { class: step.failure, detail: step.detail });
    await this.#record({
      status: 'needs_attention',
      event: 'order.needs_attention',
      message: `Waits for a person: ${step.detail}`,
      attention: { reason: step.reason, detail: step.detail },
      ...(failure !== undefined && { failure }),
      next: 'A person decides, or the service says more.',
    });
    const { observations, retry } = this.#context;
    retry.requested = false;
    // After a contradiction nothing that the service says can be trusted to go on by itself; it is noted by the relay.
    const listens = step.reason !== 'contradiction';
    await condition(() => retry.requested || (listens && !observations.isEmpty));
    if (!observations.isEmpty) return this.#answerObservations();
    await this.#reload();
    return this.#fromAttempt();
  }

  /** Goes where the service's word leads; the relay has judged it and stored its facts with the attempt. */
  async #answerObservations(): Promise<Step> {
    const taken = this.#context.observations.takeAll();
    this.#answered.push(...taken.map(({ inboxId }) => inboxId));
    if (taken.some(({ decision }) => decision === 'contradiction')) {
      return {
        step: 'park',
        reason: 'contradiction',
        detail: 'The service said two things about this order that cannot both be true.',
      };
    }
    await this.#reload();
    if (this.#attempt.state === 'processing') {
      await this.#record({
        status: 'processing',
        event: 'order.processing',
        message: 'The service has accepted the order and is working on it.',
        next: 'Its webhook; should none come, the reconciler asks.',
      });
    }
    return this.#fromAttempt();
  }

  async #reload(): Promise<void> {
    const { attempt, observations } = await database.beginOrder({ orderId: this.#orderId });
    this.#attempt = attempt;
    for (const observation of observations) this.#context.observations.offer(observation);
  }

  /** Waits under a name that the Temporal UI shows. */
  async #wait(ms: number, summary: string): Promise<'time' | 'observation' | 'retry'> {
    const { observations, retry } = this.#context;
    retry.requested = false;
    await condition(() => retry.requested || !observations.isEmpty, Math.max(1, ms), { summary });
    if (!observations.isEmpty) return 'observation';
    return retry.requested ? 'retry' : 'time';
  }

  async #record(step: Omit<StepRecord, 'orderId' | 'stepKey' | 'applied' | 'attemptNumber'> & { next: string }): Promise<'recorded' | 'may_be_bought'> {
    const { next, ...record } = step;
    this.#recorded += 1;
    const applied = this.#takeAnswered();
    const recorded = await database.recordOrderStep({
      ...record,
      orderId: this.#orderId,
      attemptNumber: this.#attempt.number,
      stepKey: `${workflowInfo().runId}:${this.#recorded}`,
      applied,
    });
    if (recorded === 'may_be_bought') {
      this.#answered.unshift(...applied);
      return recorded;
    }
    this.#show({
      status: step.status,
      now: step.message,
      next,
      failure: step.failure?.class,
      attention: step.attention?.reason,
      nextStepAt: step.nextStepAt,
    });
    return recorded;
  }

  #show(standing: Standing): void {
    this.#context.progress.show(standing);
  }

  #takeAnswered(): string[] {
    const taken = this.#answered;
    this.#answered = [];
    return taken;
  }

  /** A hold of weeks would outgrow its history: go on in a new run, which reads everything else from PostgreSQL. */
  async #continueAsNewIfLong(): Promise<void> {
    if (!workflowInfo().continueAsNewSuggested) return;
    await condition(allHandlersFinished);
    await continueAsNew<(input: OrderWorkflowInput) => Promise<OrderEnd>>({
      ...this.#context.input,
      carried: { holds: this.#holds },
    });
  }

  get #orderId(): string {
    return this.#context.input.orderId;
  }
}

/** The failure by which an activity says that the order has ended, if `error` is one; local activities do not wrap it. */
export function finishedFailure(error: unknown): ApplicationFailure | undefined {
  const failure = error instanceof ActivityFailure ? error.cause : error;
  return failure instanceof ApplicationFailure && failure.type === ORDER_FINISHED ? failure : undefined;
}

function parkReason(evidence: 'no_debit' | 'credited' | 'debited' | 'unavailable'): AttentionReason {
  if (evidence === 'debited') return 'debit_without_goods';
  return evidence === 'unavailable' ? 'evidence_unavailable' : 'attempts_used_up';
}
