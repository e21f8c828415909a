import { ActivityFailure, condition, isCancellation, proxyActivities } from '@temporalio/workflow';
import type { OrderActivities, OrderEnd, SendResult } from '#activities/order-types.ts';
import type { AttentionReason } from '#domain/attention.ts';
import { FAILURE_CLASSES, type FailureClass } from '#domain/failure.ts';
import { backoffMs, type PurchasePolicy } from '#domain/policy.ts';
import {
  afterAcceptance,
  costNothing,
  decideAfterSend,
  decideSettlement,
  type BuyingBarrier,
  type NextStep,
} from '#domain/purchase-decision.ts';
import { HEARTBEAT_TIMEOUT } from '#workflows/heartbeat.ts';
import { database, finishedFailure, OrderState, type OrderRunContext } from '#workflows/order-state.ts';

/**
 * How long an activity that reads may take, in deadlines of one call: it asks for an order by its id and in a list
 * (three deadlines), and for an eSIM; the sixth is for PostgreSQL.
 */
const DEADLINES_OF_READS = 6;

/** For activities that ask the service and may be repeated as often as it takes. */
function readOptions(policy: PurchasePolicy) {
  return {
    startToCloseTimeout: DEADLINES_OF_READS * policy.sendDeadlineMs,
    heartbeatTimeout: HEARTBEAT_TIMEOUT,
    scheduleToCloseTimeout: policy.deliveryDeadlineMs,
    retry: { initialInterval: '1s', maximumInterval: '1m' },
  } as const;
}

/** A step of the run: what the domain decided, or an end, or a wait for a person. */
type Step =
  | NextStep
  | { readonly step: 'park'; readonly reason: AttentionReason; readonly detail: string; readonly failure?: FailureClass }
  /** The attempt failed and cost nothing: another one, if there may be one. */
  | { readonly step: 'buy_anew'; readonly evidence: string }
  | { readonly step: 'end'; readonly end: OrderEnd };

const CONTRADICTION: Step = {
  step: 'park',
  reason: 'contradiction',
  detail: 'The service said two things about this order that cannot both be true.',
};

/** The relay judges within milliseconds; where it died with a row in hand, its lease of half a minute ends first. */
const BARRED_RETRY_MS = 5_000;

type StepNamed<Name extends Step['step']> = Extract<Step, { step: Name }>;

/** Carries one order from where PostgreSQL says it stands to its end. */
export class OrderRun {
  readonly #context: OrderRunContext;
  readonly #state: OrderState;
  readonly #policy: PurchasePolicy;
  /** Reads of the service. One that fails is repeated by Temporal, in sight of the operator. */
  readonly #reads: Pick<OrderActivities, 'lookUpPurchase' | 'readDebitEvidence'>;
  /** Epoch milliseconds after which held work fails. */
  readonly #deadline: number;
  #holds: number;

  constructor(context: OrderRunContext) {
    const { input, snapshot } = context;
    this.#context = context;
    this.#state = new OrderState(context);
    this.#policy = input.policy;
    this.#reads = proxyActivities<Pick<OrderActivities, 'lookUpPurchase' | 'readDebitEvidence'>>(readOptions(input.policy));
    this.#holds = input.carried?.holds ?? 0;
    this.#deadline = Math.min(snapshot.deadlineAt ?? Infinity, snapshot.acceptedAt + input.policy.holdDeadlineMs);
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
      case 'buy_anew':
        return this.#buyAnew(step);
      case 'fail':
        return this.#fail(step.failure, this.#state.attempt.failure?.detail ?? FAILURE_CLASSES[step.failure].meaning);
      case 'park':
        return this.#park(step);
    }
  }

  /** Where to go on from the state of the attempt, as a run that starts anew finds it. */
  #fromAttempt(): Step {
    const { state, failure } = this.#state.attempt;
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
        return afterAcceptance(state);
      case 'failed':
        return this.#state.attempt.settled ? { step: 'buy_anew', evidence: 'It is certain that it cost nothing.' } : afterAcceptance(state);
    }
  }

  #afterFailure(failure: FailureClass, retryAfterMs?: number): Step {
    const history = { ...this.#state.attempt.history, holds: this.#holds };
    const outcome = { kind: 'failure', failure, ...(retryAfterMs !== undefined && { retryAfterMs }) } as const;
    return decideAfterSend(outcome, history, this.#policy, Date.now());
  }

  async #send(): Promise<Step> {
    if (!this.#context.observations.isEmpty) return this.#answerObservations();
    if (Date.now() >= this.#deadline && !this.#state.attempt.history.anyUnknown) {
      return this.#fail('deadline_passed', FAILURE_CLASSES.deadline_passed.meaning);
    }
    this.#state.show({
      status: 'submitting',
      now: `Attempt ${this.#state.attempt.number} is being sent to the service.`,
      next: 'The answer of the service.',
    });
    const result = await this.#sendOnce();
    if (result === undefined) return this.#afterLostSend();

    this.#state.attempt = result.attempt;
    const { outcome } = result;
    if (outcome.kind === 'barred') return this.#barred(outcome.by, { step: 'send' });
    if (outcome.kind === 'failure') return this.#afterFailure(outcome.failure, outcome.retryAfterMs);
    return decideAfterSend(outcome, { ...result.attempt.history, holds: this.#holds }, this.#policy, Date.now());
  }

  /** One send, one Temporal attempt: the decision about another is made here, in the open. @returns undefined when the outcome was lost with the worker. */
  async #sendOnce(): Promise<SendResult | undefined> {
    const { sendPurchase } = proxyActivities<Pick<OrderActivities, 'sendPurchase'>>({
      startToCloseTimeout: this.#policy.sendActivityTimeoutMs,
      heartbeatTimeout: HEARTBEAT_TIMEOUT,
      retry: { maximumAttempts: 1 },
      summary: `Send attempt ${this.#state.attempt.number}, send ${this.#state.attempt.history.sends + 1}`,
    });
    try {
      return await sendPurchase({
        orderId: this.#state.orderId,
        attemptId: this.#state.attempt.id,
      });
    } catch (error) {
      if (isCancellation(error) || !(error instanceof ActivityFailure) || finishedFailure(error) !== undefined) throw error;
      return undefined;
    }
  }

  /** The worker died, or PostgreSQL was gone when the result was to be stored: read what is known of the attempt. */
  async #afterLostSend(): Promise<Step> {
    await this.#state.reload();
    const { state, history } = this.#state.attempt;
    if (state === 'prepared' || state === 'refused') {
      // The send never began. Wait all the same, so that a worker that fails at once is not asked in a tight loop.
      const delayMs = backoffMs(this.#policy.resendDelayMs, this.#policy.resendDelayMaxMs, history.sends + 1);
      return { step: 'resend', failure: 'worker_lost', delayMs };
    }
    return this.#fromAttempt();
  }

  async #hold(step: StepNamed<'hold'>): Promise<Step> {
    await this.#state.continueAsNewIfLong(this.#holds);
    this.#holds += 1;
    const wakeAt = Math.min(Date.now() + step.delayMs, this.#deadline);
    const { meaning, advice } = FAILURE_CLASSES[step.failure];
    const detail = this.#state.attempt.failure?.detail ?? meaning;
    const { acts } = this.#state;
    await this.#state.record({
      status: 'held',
      event: 'order.held',
      message: `Held: ${detail}`,
      failure: { class: step.failure, detail },
      nextStepAt: wakeAt,
      next: `The same attempt is sent again. ${advice}`,
    });
    const woken = await this.#state.wait(wakeAt - Date.now(), `Held (${step.failure}), hold ${this.#holds}`, acts);
    if (woken === 'observation') return this.#answerObservations();
    if (woken === 'operator') return this.#afterAct({ step: 'send' });
    if (Date.now() >= this.#deadline) {
      return this.#fail('deadline_passed', `The deadline passed while the order was held: ${detail}`);
    }
    return { step: 'send' };
  }

  async #resend(step: StepNamed<'resend'>): Promise<Step> {
    const wakeAt = Date.now() + step.delayMs;
    const detail = this.#state.attempt.failure?.detail ?? FAILURE_CLASSES[step.failure].meaning;
    await this.#state.record({
      status: 'submitting',
      event: 'attempt.resend_planned',
      message: `Outcome unknown: ${detail} The same bytes are sent again with the same key.`,
      failure: { class: step.failure, detail },
      nextStepAt: wakeAt,
      next: 'The same bytes are sent again with the same idempotency key.',
    });
    const woken = await this.#state.wait(step.delayMs, `Resend attempt ${this.#state.attempt.number} (${step.failure})`);
    if (woken === 'operator') return this.#afterAct({ step: 'send' });
    return woken === 'observation' ? this.#answerObservations() : { step: 'send' };
  }

  async #waitForLease(step: StepNamed<'wait_for_lease'>): Promise<Step> {
    const woken = await this.#state.wait(step.delayMs, 'Another send of this attempt may still be under way');
    return woken === 'observation' ? this.#answerObservations() : { step: 'send' };
  }

  async #lookUp(step: StepNamed<'look_up'>): Promise<Step> {
    let detail = '';
    for (let n = 1; n <= this.#policy.lookUps; n += 1) {
      this.#state.show({
        status: 'submitting',
        now: 'The outcome of the purchase is unknown; the service is being asked.',
        next: `What the service says; if it knows nothing, a person is told (look-up ${n} of ${this.#policy.lookUps}).`,
        failure: step.failure,
      });
      const result = await this.#reads.lookUpPurchase({ orderId: this.#state.orderId, attemptId: this.#state.attempt.id });
      if (result.kind === 'found') {
        await this.#state.reload();
        return this.#fromAttempt();
      }
      detail = result.kind === 'not_found' ? 'The service does not list it.' : result.failure.detail;
      if (n === this.#policy.lookUps) break;
      const delay = backoffMs(this.#policy.resendDelayMs, this.#policy.resendDelayMaxMs, n);
      if ((await this.#state.wait(delay, `Look up attempt ${this.#state.attempt.number} again`)) === 'observation') {
        return this.#answerObservations();
      }
    }
    return { step: 'park', reason: 'outcome_unknown', detail, failure: step.failure };
  }

  async #awaitService(): Promise<Step> {
    this.#state.show({
      status: 'processing',
      now: 'The service has accepted the order and is working on it.',
      next: 'Its webhook; should none come, the reconciler asks.',
    });
    const { acts } = this.#state;
    await condition(() => !this.#context.observations.isEmpty || this.#state.acts > acts);
    return this.#context.observations.isEmpty ? this.#afterAct({ step: 'await_service' }) : this.#answerObservations();
  }

  /** A person acted. What that person said of the attempt goes first. @param otherwise when it is as it was. */
  async #afterAct(otherwise: Step): Promise<Step> {
    await this.#state.reload();
    const { state } = this.#state.attempt;
    return state === 'processing' || state === 'completed' || state === 'failed' ? this.#fromAttempt() : otherwise;
  }

  async #deliver(): Promise<Step> {
    this.#state.show({
      status: 'processing',
      now: 'The service has completed the order; its eSIM is being fetched.',
      next: 'The eSIM is stored and the order is completed.',
    });
    const { deliverEsim } = proxyActivities<Pick<OrderActivities, 'deliverEsim'>>({
      ...readOptions(this.#policy),
      summary: 'Fetch the eSIM and complete the order',
    });
    try {
      const result = await deliverEsim({
        orderId: this.#state.orderId,
        attemptId: this.#state.attempt.id,
        applied: this.#state.takeAnswered(),
      });
      if (result.kind === 'unreadable') return { step: 'park', reason: 'contract_drift', detail: result.detail };
      this.#state.show({ status: 'completed', now: `The eSIM ${result.esimId} was delivered.`, next: 'Nothing: the order has ended.' });
      return { step: 'end', end: { status: 'completed', esimId: result.esimId } };
    } catch (error) {
      if (isCancellation(error) || !(error instanceof ActivityFailure) || finishedFailure(error) !== undefined) throw error;
      return { step: 'park', reason: 'delivery_unavailable', detail: 'The eSIM could not be read from the service.' };
    }
  }

  /** The service reports a failure: nothing is bought anew, and the order does not fail, without a look at the wallet. */
  async #settle(step: StepNamed<'settle'>): Promise<Step> {
    const failure = this.#state.attempt.failure ?? { class: step.failure, detail: FAILURE_CLASSES[step.failure].meaning };
    for (let read = 1; ; read += 1) {
      const wakeAt = Date.now() + this.#policy.settleDelayMs;
      await this.#state.record({
        status: 'processing',
        event: 'attempt.settling',
        message: `The service reports attempt ${this.#state.attempt.number} as failed; the wallet is checked before anything else.`,
        failure,
        nextStepAt: wakeAt,
        next: `The wallet is read (${read} of ${this.#policy.settleReads}).`,
      });
      // Whatever a person does, the wallet is not read before its time: a debit may show late.
      while (Date.now() < wakeAt) {
        const woken = await this.#state.wait(wakeAt - Date.now(), `Let the wallet settle, read ${read}`);
        if (woken === 'observation') return this.#answerObservations();
        if (woken === 'operator') await this.#state.reload();
        if (this.#state.attempt.settled) return this.#fromAttempt();
      }
      const { evidence, detail } = await this.#reads.readDebitEvidence({ orderId: this.#state.orderId, attemptId: this.#state.attempt.id });
      if (costNothing(evidence)) return { step: 'buy_anew', evidence: detail };
      if (decideSettlement(read, this.#policy) === 'read_again') continue;
      const reason = evidence === 'debited' ? 'debit_without_goods' : 'evidence_unavailable';
      return { step: 'park', reason, detail, failure: failure.class };
    }
  }

  async #buyAnew({ evidence }: StepNamed<'buy_anew'>): Promise<Step> {
    const { number, failure = { class: 'supplier_failed', detail: FAILURE_CLASSES.supplier_failed.meaning } } = this.#state.attempt;
    if (number >= this.#attemptsAllowed) return { step: 'park', reason: 'attempts_used_up', detail: evidence, failure: failure.class };
    const wakeAt = Date.now() + backoffMs(this.#policy.attemptDelayMs, this.#policy.holdDelayMaxMs, number);
    if (wakeAt >= this.#deadline) return this.#fail('deadline_passed', `${failure.detail} ${evidence}`);
    const { acts } = this.#state;
    await this.#state.record({
      status: 'held',
      event: 'order.held',
      message: `Attempt ${number} failed and cost nothing. ${evidence} A new attempt follows.`,
      failure,
      nextStepAt: wakeAt,
      next: `Attempt ${number + 1} of at most ${this.#attemptsAllowed}.`,
    });
    const woken = await this.#state.wait(wakeAt - Date.now(), `Before attempt ${number + 1}`, acts);
    if (woken === 'observation') return this.#answerObservations();
    return this.#openNextAttempt(number + 1);
  }

  get #attemptsAllowed(): number {
    return this.#policy.maxAttempts + this.#state.extraAttempts;
  }

  async #openNextAttempt(number: number): Promise<Step> {
    for (;;) {
      const opened = await database.openNextAttempt({ orderId: this.#state.orderId, number });
      if (opened.kind === 'opened') {
        this.#state.attempt = opened.attempt;
        this.#holds = 0;
        return this.#fromAttempt();
      }
      const step = await this.#barred(opened.by, undefined);
      if (step !== undefined) return step;
    }
  }

  /**
   * Nothing may be bought, and nothing fail, at this moment: a person is told, or the word of the service that is on its
   * way is waited for.
   *
   * @param otherwise the step to try again when that word does not come in time.
   */
  async #barred<Otherwise extends Step | undefined>(by: BuyingBarrier, otherwise: Otherwise): Promise<Step | Otherwise> {
    if (by === 'contradiction') return CONTRADICTION;
    const woken = await this.#state.wait(BARRED_RETRY_MS, 'A word of the service is still to be judged');
    return woken === 'observation' ? this.#answerObservations() : otherwise;
  }

  async #fail(failure: FailureClass, detail: string): Promise<Step> {
    const recorded = await this.#state.record({
      status: 'failed',
      event: 'order.failed',
      message: `Failed for good, and nothing was bought: ${detail}`,
      failure: { class: failure, detail },
      next: 'Nothing: the order has ended.',
    });
    if (recorded === 'may_be_bought') {
      await this.#state.reload();
      return this.#fromAttempt();
    }
    if (recorded !== 'recorded') return (await this.#barred(recorded, undefined)) ?? this.#fail(failure, detail);
    return { step: 'end', end: { status: 'failed', failure } };
  }

  async #park(step: StepNamed<'park'>): Promise<Step> {
    const failure = step.failure === undefined ? undefined : (this.#state.attempt.failure ?? { class: step.failure, detail: step.detail });
    const { acts } = this.#state;
    await this.#state.record({
      status: 'needs_attention',
      event: 'order.needs_attention',
      message: `Waits for a person: ${step.detail}`,
      attention: { reason: step.reason, detail: step.detail },
      ...(failure !== undefined && { failure }),
      next: 'A person decides, or the service says more.',
    });
    const { observations } = this.#context;
    // After a contradiction nothing that the service says can be trusted to go on by itself; it is noted by the relay.
    const listens = step.reason !== 'contradiction';
    await condition(() => this.#state.acts > acts || (listens && !observations.isEmpty));
    if (!observations.isEmpty && listens) return this.#answerObservations();
    await this.#state.reload();
    return this.#fromAttempt();
  }

  /** Goes where the service's word leads; the relay has judged it and stored its facts with the attempt. */
  async #answerObservations(): Promise<Step> {
    const taken = this.#context.observations.takeAll();
    this.#state.answer(taken.map(({ inboxId }) => inboxId));
    if (taken.some(({ decision }) => decision === 'contradiction')) {
      return CONTRADICTION;
    }
    await this.#state.reload();
    if (this.#state.attempt.state === 'processing') {
      await this.#state.record({
        status: 'processing',
        event: 'order.processing',
        message: 'The service has accepted the order and is working on it.',
        next: 'Its webhook; should none come, the reconciler asks.',
      });
    }
    return this.#fromAttempt();
  }
}
