import { proxyActivities } from '@temporalio/workflow';
import type { AttemptRef, CompletionResult, EvidenceResult, LookUpResult, PurchaseActivities, SendResult, WorkEnd } from '#activities/work-types.ts';
import type { AttentionReason } from '#domain/attention.ts';
import { FAILURE_CLASSES, type FailureClass } from '#domain/failure.ts';
import { ENDS_WITHOUT_EFFECT, type WorkStatus } from '#domain/lifecycle.ts';
import { backoffMs, type PurchasePolicy } from '#domain/policy.ts';
import {
  afterAcceptance,
  costNothing,
  decideAfterSend,
  decideSettlement,
  type BuyingBarrier,
  type NextStep,
} from '#domain/purchase-decision.ts';
import { equalWaits } from '#domain/retry-rules.ts';
import type { WorkKind } from '#domain/work.ts';
import { HEARTBEAT_TIMEOUT } from '#workflows/heartbeat.ts';
import { WAIT_NAMES, type WaitName } from '#workflows/wait-names.ts';
import { CONTRADICTED, database, requireGivenUp, type RunContext, type WorkState } from '#workflows/work-state.ts';

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

/** What is read from the service to complete each kind, what it then is, and the case of a read that never succeeds. */
const WORDING = {
  order: { missing: 'eSIM', status: 'completed', overdue: 'delivery_unavailable', done: (esimId = '') => `The eSIM ${esimId} was delivered.` },
  topup: { missing: 'price', status: 'completed', overdue: 'delivery_unavailable', done: (esimId = '') => `The eSIM ${esimId} was recharged.` },
  vpn_subscription: { missing: 'access data', status: 'active', overdue: 'delivery_unavailable', done: () => 'The VPN subscription is active.' },
  cancellation: { missing: 'refund', status: 'completed', overdue: 'refund_missing', done: (esimId = '') => `The eSIM ${esimId} is cancelled.` },
} as const satisfies Record<
  WorkKind,
  { missing: string; status: WorkStatus; overdue: AttentionReason; done: (esimId?: string) => string }
>;

/** A step of the run: what the domain decided, or an end, or a wait for a person. */
type Step =
  | NextStep
  | { readonly step: 'park'; readonly reason: AttentionReason; readonly detail: string; readonly failure?: FailureClass }
  /** The attempt failed and cost nothing: another one, if there may be one. */
  | { readonly step: 'buy_anew'; readonly evidence: string }
  | { readonly step: 'end'; readonly end: WorkEnd };

const CONTRADICTION: Step = {
  step: 'park',
  reason: 'contradiction',
  detail: CONTRADICTED,
};

/** What the service adds to a contradiction that nobody has judged yet. */
const ONE_MORE_WORD: Step = { ...CONTRADICTION, detail: 'The service said more about it; what contradicts itself is to be judged first.' };

type StepNamed<Name extends Step['step']> = Extract<Step, { step: Name }>;

/** Carries one purchase from where PostgreSQL says it stands to its end. */
export class PurchaseRun {
  readonly #context: RunContext;
  readonly #state: WorkState;
  readonly #policy: PurchasePolicy;
  /** Reads of the service. One that fails is repeated by Temporal, in sight of the operator. */
  readonly #reads: Pick<PurchaseActivities, 'lookUpPurchase' | 'readDebitEvidence'>;
  #holds: number;
  /** What was bought and could not be completed so far: since when, in epoch milliseconds, and how often it was tried. */
  #notReadSince: { readonly since: number; readonly reads: number } | undefined;

  constructor(context: RunContext, state: WorkState) {
    const { input } = context;
    this.#context = context;
    this.#state = state;
    this.#policy = input.policy;
    this.#reads = proxyActivities<Pick<PurchaseActivities, 'lookUpPurchase' | 'readDebitEvidence'>>(readOptions(input.policy));
    this.#holds = input.carried?.holds ?? 0;
  }

  async run(): Promise<WorkEnd> {
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
        return this.#complete();
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
    const { state, failure, named } = this.#state.attempt;
    switch (state) {
      case 'prepared':
        return { step: 'send' };
      case 'sending':
        return this.#afterFailure('worker_lost');
      case 'unknown':
        // A person has said under which id the service has it: nothing is sent again, the service is asked.
        if (named) return { step: 'look_up', failure: failure?.class ?? 'worker_lost' };
        return this.#afterFailure(failure?.class ?? 'worker_lost');
      case 'refused':
        return this.#afterFailure(failure?.class ?? 'worker_lost');
      case 'processing':
        // The refund failed: only the eSIM itself tells whether that was the refusal of the whole cancellation.
        return this.#isRefundAlone ? { step: 'look_up', failure: 'cancellation_refused' } : afterAcceptance(state);
      case 'completed':
        return afterAcceptance(state);
      case 'failed':
        return this.#state.attempt.settled ? { step: 'buy_anew', evidence: 'That it cost nothing is settled, by the wallet or by the word of an operator.' } : afterAcceptance(state);
    }
  }

  /** True when all that is known of a cancellation is that its refund failed. */
  get #isRefundAlone(): boolean {
    const { cancellation } = this.#state;
    return cancellation?.refundFailed === true && cancellation.cancelledAt === undefined;
  }

  #afterFailure(failure: FailureClass, retryAfterMs?: number): Step {
    const history = { ...this.#state.attempt.history, holds: this.#holds };
    const outcome = { kind: 'failure', failure, ...(retryAfterMs !== undefined && { retryAfterMs }) } as const;
    return decideAfterSend(outcome, history, this.#policy, Date.now(), this.#state.retryOverrides);
  }

  async #send(): Promise<Step> {
    if (!this.#context.observations.isEmpty) return this.#answerObservations();
    if (Date.now() >= this.#state.deadline && !this.#state.attempt.history.anyUnknown) {
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
    if (outcome.kind === 'too_late') return { step: 'look_up', failure: this.#state.attempt.failure?.class ?? 'worker_lost' };
    if (outcome.kind === 'failure') return this.#afterFailure(outcome.failure, outcome.retryAfterMs);
    return decideAfterSend(outcome, { ...result.attempt.history, holds: this.#holds }, this.#policy, Date.now(), this.#state.retryOverrides);
  }

  /** One send, one Temporal attempt: the decision about another is made here, in the open. @returns undefined when the outcome was lost with the worker. */
  async #sendOnce(): Promise<SendResult | undefined> {
    const { sendPurchase } = proxyActivities<Pick<PurchaseActivities, 'sendPurchase'>>({
      startToCloseTimeout: this.#policy.sendActivityTimeoutMs,
      heartbeatTimeout: HEARTBEAT_TIMEOUT,
      retry: { maximumAttempts: 1 },
      summary: `Send attempt ${this.#state.attempt.number}, send ${this.#state.attempt.history.sends + 1}`,
    });
    try {
      const { configuredRule: retryRule } = this.#state;
      const { resendAllowed, resendWindowMs } = this.#policy;
      return await sendPurchase({ ...this.#attempt, ...(resendAllowed && { resendWindowMs }), retryRule });
    } catch (error) {
      requireGivenUp(error);
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
    const { failure, gated, asked = false } = step;
    await this.#state.continueAsNewIfLong(this.#holds);
    // What the gate holds was not tried: it lengthens no wait.
    if (gated === undefined) this.#holds += 1;
    this.#state.heldFor = failure;
    const since = Date.now();
    const { meaning, advice } = FAILURE_CLASSES[failure];
    const detail = gated ?? this.#state.attempt.failure?.detail ?? meaning;
    let { delayMs } = step;
    for (;;) {
      const wakeAt = Math.min(since + delayMs, this.#state.deadline);
      await this.#state.record({
        status: 'held',
        message: gated === undefined ? `Held: ${detail}` : `Held at the purchase gate: ${detail}`,
        failure: { class: failure, detail },
        nextStepAt: wakeAt,
        retryRule: this.#state.configuredRule,
        next: gated === undefined ? `The same attempt is sent again. ${advice}` : `The gate lets it through when that is over, the oldest first. ${advice}`,
      });
      const where = gated === undefined ? WAIT_NAMES.hold(failure, this.#holds) : WAIT_NAMES.gate(failure);
      const { retryOverrides, rule } = this.#state;
      const woken = await this.#state.wait(wakeAt - Date.now(), where);
      if (woken === 'observation') return this.#answerObservations();
      if (woken === 'time') {
        if (Date.now() < this.#state.deadline) return { step: 'send' };
        return this.#fail('deadline_passed', `The deadline passed while the ${this.#state.noun} was held: ${detail}`);
      }
      const acted = this.#afterAct({ step: 'send' });
      // The gate is asked in any case; what is held otherwise waits on, by the changed rule.
      const waitsOn = gated === undefined && acted.step === 'send' && this.#state.isOnlyRescheduled(retryOverrides, wakeAt);
      if (!waitsOn || !equalWaits(rule, this.#state.rule)) {
        // Something has changed: should it be held again, the waits begin anew with the shortest.
        this.#holds = waitsOn ? 1 : 0;
        // Where the service said itself when to come back, that stays.
        if (!asked) delayMs = this.#state.rule.firstDelayMs;
      }
      if (!waitsOn) return acted;
    }
  }

  async #resend(step: StepNamed<'resend'>): Promise<Step> {
    const wakeAt = Date.now() + step.delayMs;
    const detail = this.#state.attempt.failure?.detail ?? FAILURE_CLASSES[step.failure].meaning;
    const atGate = step.gated === undefined ? '' : ` The purchase gate holds that up: ${step.gated}`;
    // What the gate has against a send is no word on what became of the one before, which is what callers have to know.
    const failure = (step.gated === undefined ? undefined : this.#state.attempt.failure) ?? { class: step.failure, detail };
    await this.#state.record({
      status: 'submitting',
      event: 'attempt.resend_planned',
      message: `Outcome unknown: ${detail} The same bytes are sent again with the same key.${atGate}`,
      failure,
      nextStepAt: wakeAt,
      next: 'The same bytes are sent again with the same idempotency key.',
    });
    const woken = await this.#state.wait(step.delayMs, WAIT_NAMES.resend(this.#state.attempt.number, step.failure));
    if (woken === 'operator') return this.#afterAct({ step: 'send' });
    return woken === 'observation' ? this.#answerObservations() : { step: 'send' };
  }

  async #waitForLease(step: StepNamed<'wait_for_lease'>): Promise<Step> {
    const woken = await this.#state.wait(step.delayMs, WAIT_NAMES.otherSend());
    return woken === 'observation' ? this.#answerObservations() : { step: 'send' };
  }

  async #lookUp(step: StepNamed<'look_up'>): Promise<Step> {
    let detail = '';
    for (let n = 1; n <= this.#policy.lookUps; n += 1) {
      // What waits for a person does so while the service is asked once more.
      const { attention } = this.#state;
      this.#state.show({
        status: attention === undefined ? 'submitting' : 'needs_attention',
        now: `The outcome of the ${this.#state.noun} is unknown; the service is being asked.`,
        next: `What the service says; if it knows nothing, a person is told (look-up ${n} of ${this.#policy.lookUps}).`,
        failure: step.failure,
        attention,
      });
      const result = await this.#askService();
      if (result.kind === 'found') {
        await this.#state.reload();
        return this.#fromAttempt();
      }
      detail = result.kind === 'not_found' ? 'The service does not list it.' : result.failure.detail;
      if (n === this.#policy.lookUps) break;
      const delay = backoffMs(this.#policy.resendDelayMs, this.#policy.resendDelayMaxMs, n);
      const woken = await this.#state.wait(delay, WAIT_NAMES.lookUp(this.#state.attempt.number));
      if (woken === 'observation') return this.#answerObservations();
      if (woken === 'operator') return this.#afterAct(step);
    }
    return { step: 'park', reason: 'outcome_unknown', detail, failure: step.failure };
  }

  /** A question that was given up says nothing. */
  async #askService(): Promise<LookUpResult> {
    try {
      return await this.#reads.lookUpPurchase(this.#attempt);
    } catch (error) {
      requireGivenUp(error);
      return { kind: 'unavailable', failure: { class: 'timeout', detail: 'The service could not be asked for a long time.' } };
    }
  }

  async #awaitService(): Promise<Step> {
    // The money is there, whatever the service says of it.
    if (this.#state.cancellation?.cancelledAt !== undefined && this.#state.cancellation.refundPaid) return { step: 'deliver' };
    await this.#state.goOn({ status: 'processing', ...this.#going });
    const { until, summary, otherwise } = this.#patience;
    const woken = await this.#state.wait(until - Date.now(), summary);
    if (woken === 'observation') return this.#answerObservations();
    return woken === 'time' ? otherwise : this.#afterAct({ step: 'await_service' });
  }

  /** What is shown while the service is at work on it. */
  get #going(): { readonly now: string; readonly next: string } {
    const isCancelled = this.#state.cancellation?.cancelledAt !== undefined;
    return {
      now: isCancelled
        ? 'The eSIM is cancelled; the service decides about its refund.'
        : `The service has accepted the ${this.#state.noun} and is working on it.`,
      next: 'Its webhook; should none come, the reconciler asks.',
    };
  }

  /** How long the service is waited for, in epoch milliseconds, and what follows when it says nothing all the while. */
  get #patience(): { readonly until: number; readonly summary: WaitName; readonly otherwise: Step } {
    const { cancellation, attempt } = this.#state;
    if (cancellation === undefined) {
      const until = Date.now() + this.#policy.silentDeadlineMs;
      return { until, summary: WAIT_NAMES.service(), otherwise: { step: 'look_up', failure: 'timeout' } };
    }
    const { cancelledAt, acceptWithoutRefund, refundOpen } = cancellation;
    const isGraced = cancelledAt !== undefined && acceptWithoutRefund && !refundOpen;
    const since = cancelledAt ?? attempt.history.firstSentAt ?? this.#context.snapshot.acceptedAt;
    const until = since + (isGraced ? this.#policy.refundGraceMs : this.#policy.refundDeadlineMs);
    return { until, summary: WAIT_NAMES.refund(), otherwise: { step: 'deliver' } };
  }

  /** A person acted. What that person said of the attempt goes first. @param otherwise when it is as it was. */
  #afterAct(otherwise: Step): Step {
    const { state, named } = this.#state.attempt;
    return state === 'processing' || state === 'completed' || state === 'failed' || named ? this.#fromAttempt() : otherwise;
  }

  async #complete(): Promise<Step> {
    const { missing, status, overdue, done } = WORDING[this.#state.work.kind];
    const now = `The service has completed the ${this.#state.noun}; its ${missing} is being read.`;
    const next = `The ${this.#state.noun} is completed.`;
    // It is the completion that answers what the service said.
    const applied = this.#state.takeAnswered();
    await this.#state.goOn({ status: 'processing', now, next });
    const { completePurchase } = proxyActivities<Pick<PurchaseActivities, 'completePurchase'>>({
      ...readOptions(this.#policy),
      summary: `Read the ${missing} and complete the ${this.#state.noun}`,
    });
    const result = await completePurchase({ ...this.#attempt, applied }).catch((error: unknown) => {
      requireGivenUp(error);
      return undefined;
    });
    // What it did not complete has answered nothing.
    if (result?.kind !== 'completed') this.#state.answer(applied);
    if (result?.kind === 'not_yet') return this.#waitToReadAgain(result, { missing, overdue, next });
    this.#notReadSince = undefined;
    switch (result?.kind) {
      case undefined:
        return { step: 'park', reason: overdue, detail: `Its ${missing} could not be read from the service.` };
      case 'unreadable':
        return { step: 'park', reason: 'contract_drift', detail: result.detail };
      case 'parked':
        return { step: 'park', reason: result.reason, detail: result.detail };
      case 'changed':
        await this.#state.reload();
        return this.#fromAttempt();
      case 'completed': {
        const { esimId } = result;
        this.#state.show({ status, now: done(esimId), next: status === 'completed' ? this.#nothingMore : 'Its end, or its cancellation.' });
        return { step: 'end', end: { status: 'completed', ...(esimId !== undefined && { esimId }) } };
      }
    }
  }

  /** In the open: each wait has its name, and after so long a person is told. */
  async #waitToReadAgain(
    { reason, detail, retryAfterMs = 0 }: Extract<CompletionResult, { kind: 'not_yet' }>,
    { missing, overdue, next }: { readonly missing: string; readonly overdue: AttentionReason; readonly next: string },
  ): Promise<Step> {
    const { resendDelayMs, resendDelayMaxMs, deliveryDeadlineMs } = this.#policy;
    const now = Date.now();
    const { since, reads } = this.#notReadSince ?? { since: now, reads: 0 };
    // A service that asks for an hour must not use up the whole time for the delivery.
    const pause = Math.min(resendDelayMaxMs, Math.max(retryAfterMs, backoffMs(resendDelayMs, resendDelayMaxMs, reads + 1)));
    if (now + pause - since >= deliveryDeadlineMs) {
      this.#notReadSince = undefined;
      return { step: 'park', reason: overdue, detail: `Its ${missing} could not be read from the service. ${detail}` };
    }
    this.#notReadSince = { since, reads: reads + 1 };
    await this.#state.record({
      status: 'processing',
      event: `${this.#state.work.kind}.not_complete_yet`,
      message: `Its ${missing} could not be read yet: ${detail}`,
      nextStepAt: now + pause,
      next: `It is read again; should that not succeed until ${new Date(since + deliveryDeadlineMs).toISOString()}, a person is told. Then: ${next}`,
    });
    const woken = await this.#state.wait(pause, WAIT_NAMES.completion(missing, reason));
    if (woken === 'observation') return this.#answerObservations();
    return woken === 'operator' ? this.#afterAct({ step: 'deliver' }) : { step: 'deliver' };
  }

  /** The service reports a failure: nothing is bought anew, and nothing fails, without a look at the wallet. */
  async #settle(step: StepNamed<'settle'>): Promise<Step> {
    const failure = this.#state.attempt.failure ?? { class: step.failure, detail: FAILURE_CLASSES[step.failure].meaning };
    // A cancellation spends nothing: that the service refuses it is its end.
    if (this.#state.cancellation !== undefined) return this.#fail(failure.class, failure.detail);
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
        const woken = await this.#state.wait(wakeAt - Date.now(), WAIT_NAMES.wallet(read));
        if (woken === 'observation') return this.#answerObservations();
        if (woken === 'operator' && this.#state.attempt.state !== 'failed') return this.#fromAttempt();
        if (this.#state.attempt.settled) return this.#fromAttempt();
      }
      const { evidence, detail } = await this.#readEvidence();
      if (costNothing(evidence)) {
        this.#state.attempt = { ...this.#state.attempt, settled: true };
        return { step: 'buy_anew', evidence: detail };
      }
      if (decideSettlement(read, this.#policy) === 'read_again') continue;
      const reason = evidence === 'debited' ? 'debit_without_goods' : 'evidence_unavailable';
      return { step: 'park', reason, detail, failure: failure.class };
    }
  }

  /** A wallet that could not be read proves nothing. */
  async #readEvidence(): Promise<EvidenceResult> {
    try {
      return await this.#reads.readDebitEvidence(this.#attempt);
    } catch (error) {
      requireGivenUp(error);
      return { evidence: 'unavailable', detail: 'The wallet could not be read for a long time.' };
    }
  }

  async #buyAnew({ evidence }: StepNamed<'buy_anew'>): Promise<Step> {
    const { number, failure = { class: 'supplier_failed', detail: FAILURE_CLASSES.supplier_failed.meaning } } = this.#state.attempt;
    this.#state.heldFor = 'supplier_failed';
    const since = Date.now();
    for (;;) {
      const { attempts, firstDelayMs, maxDelayMs } = this.#state.rule;
      if (number >= attempts) {
        const detail = `All ${number} attempts failed. ${evidence}`;
        return { step: 'park', reason: 'attempts_used_up', detail, failure: failure.class };
      }
      const wakeAt = since + backoffMs(firstDelayMs, maxDelayMs, number);
      if (wakeAt >= this.#state.deadline) return this.#fail('deadline_passed', `${failure.detail} ${evidence}`);
      await this.#state.record({
        status: 'held',
        message: `Attempt ${number} failed and cost nothing. ${evidence} A new attempt follows.`,
        failure,
        nextStepAt: wakeAt,
        retryRule: this.#state.configuredRule,
        next: `Attempt ${number + 1} of at most ${attempts}.`,
      });
      const { retryOverrides } = this.#state;
      const woken = await this.#state.wait(wakeAt - Date.now(), WAIT_NAMES.nextAttempt(number + 1));
      if (woken === 'observation') return this.#answerObservations();
      // A person may have found that it was bought after all.
      if (this.#state.attempt.state !== 'failed') return this.#fromAttempt();
      const waitsOn = woken === 'operator' && this.#state.isOnlyRescheduled(retryOverrides, wakeAt);
      // Whoever waits on waits by the changed rule; and there may be no further attempt any more.
      if (!waitsOn && number < this.#state.rule.attempts) return this.#openNextAttempt(number + 1);
    }
  }

  get #attempt(): AttemptRef {
    return { work: this.#state.work, attemptId: this.#state.attempt.id };
  }

  get #nothingMore(): string {
    return `Nothing: the ${this.#state.noun} has ended.`;
  }

  async #openNextAttempt(number: number): Promise<Step> {
    for (;;) {
      const opened = await database.openNextAttempt({ work: this.#state.work, number });
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
    const woken = await this.#state.wait(this.#policy.barredRetryMs, WAIT_NAMES.unjudgedWord());
    return woken === 'observation' ? this.#answerObservations() : otherwise;
  }

  async #fail(failure: FailureClass, detail: string): Promise<Step> {
    const { kind } = this.#state.work;
    const status = ENDS_WITHOUT_EFFECT[kind];
    const recorded = await this.#state.record({
      status,
      message: `${kind === 'cancellation' ? 'Refused; the eSIM is not cancelled' : 'Failed for good, and nothing was bought'}: ${detail}`,
      failure: { class: failure, detail },
      next: this.#nothingMore,
    });
    if (recorded === 'may_be_bought' || recorded === 'judged') {
      await this.#state.reload();
      return this.#fromAttempt();
    }
    if (recorded !== 'recorded') return (await this.#barred(recorded, undefined)) ?? this.#fail(failure, detail);
    return { step: 'end', end: { status, failure } };
  }

  async #park(step: StepNamed<'park'>): Promise<Step> {
    // Of a contradiction PostgreSQL knows whether a person has judged it: another act does not let it go on.
    if (this.#state.isActedOn && step.reason !== 'contradiction') {
      // What a person did while it came to this goes first.
      await this.#state.reload();
      return this.#fromAttempt();
    }
    const failure = step.failure === undefined ? undefined : (this.#state.attempt.failure ?? { class: step.failure, detail: step.detail });
    const recorded = await this.#state.record({
      status: 'needs_attention',
      message: `Waits for a person: ${step.detail}`,
      attention: { reason: step.reason, detail: step.detail },
      ...(failure !== undefined && { failure }),
      next: 'A person decides, or the service says more.',
    });
    if (recorded === 'judged') {
      await this.#state.reload();
      return this.#fromAttempt();
    }
    const woken = await this.#state.waitForWord(step.reason);
    return woken === 'observation' ? this.#answerObservations() : this.#fromAttempt();
  }

  /** Goes where the service's word leads; the relay has judged it and stored its facts with the attempt. */
  async #answerObservations(): Promise<Step> {
    const taken = this.#context.observations.takeAll();
    this.#state.answer(taken.map(({ inboxId }) => inboxId));
    // After a contradiction nothing that the service says moves anything before a person has judged: it is noted, with the relay's facts.
    if (this.#state.attention === 'contradiction') return ONE_MORE_WORD;
    if (taken.some(({ decision }) => decision === 'contradiction')) return CONTRADICTION;
    await this.#state.reload();
    if (this.#state.attempt.state === 'processing') {
      const { now: message, next } = this.#going;
      await this.#state.record({ status: 'processing', message, next });
    }
    return this.#fromAttempt();
  }
}
