import type { AttemptRef, AttemptView } from '#activities/work/work-types.ts';
import { backoffMs } from '#domain/policy/backoff.ts';
import type { PurchasePolicy } from '#domain/policy/purchase-policy.ts';
import {
  afterAcceptance,
  decideAfterSend,
  type BuyingBarrier,
  type NextStep,
  type SendOutcome,
} from '#domain/purchase/purchase-decision.ts';
import { FAILURE_CLASSES, type FailureClass } from '#domain/work/failure.ts';
import { ENDS_WITHOUT_EFFECT } from '#domain/work/lifecycle.ts';
import type { Carried, Stall } from '#workflows/purchase/carried.ts';
import { CONTRADICTION, ONE_MORE_WORD, type Step, type StepNamed } from '#workflows/purchase/purchase-steps.ts';
import { WAIT_NAMES } from '#workflows/purchase/wait-names.ts';
import type { RunContext, WorkState } from '#workflows/purchase/work-state.ts';

/** Where one purchase stands in its run: how to go on from there, and the ends that it can come to at every step. */
export class PurchasePosition {
  readonly context: RunContext;
  readonly state: WorkState;
  readonly policy: PurchasePolicy;
  /** How often in a row it was held for what an attempt met: each such wait is longer than the one before. */
  holds: number;
  /** How often in a row the service could not be asked. */
  asks: number;
  /** How often it was proven absent since the service last answered a send of it. */
  proofs: number;
  /**
   * What was bought and could not be completed so far: since when, in epoch milliseconds, and how often it was tried.
   */
  unread: Carried['unread'];
  /**
   * Since when the service is waited for, in epoch milliseconds; a look at the row in between does not begin the wait
   * anew.
   */
  awaitedSince: number | undefined;
  /** Since when nothing moves because of ourselves. */
  #stall: Stall | undefined;
  /** What is to be done next, and how often it was held before that. */
  #next: { readonly step: Step; readonly holds: number } | undefined;

  constructor(context: RunContext, state: WorkState) {
    this.context = context;
    this.state = state;
    this.policy = context.input.policy;
    const { carried } = context.input;
    this.holds = carried?.holds ?? 0;
    this.asks = carried?.asks ?? 0;
    this.proofs = carried?.proofs ?? 0;
    this.unread = carried?.unread;
    this.awaitedSince = carried?.awaitedSince;
    this.#stall = carried?.stall;
    state.onChangeOver(() => this.#toCarry());
  }

  #toCarry(): Omit<Carried, 'isActedOn'> {
    const { asks, proofs, unread, awaitedSince } = this;
    return {
      holds: this.#next?.holds ?? this.holds,
      ...(asks > 0 && { asks }),
      ...(proofs > 0 && { proofs }),
      ...(unread !== undefined && { unread }),
      ...(awaitedSince !== undefined && { awaitedSince }),
      ...(this.#stall !== undefined && { stall: this.#stall }),
      ...(this.#next !== undefined && { step: this.#next.step }),
    };
  }

  /**
   * Notes what is to be done next, and goes on in a new run where the history has grown long.
   *
   * @param holds how often in a row it was held before that.
   */
  async before(step: Step, holds = this.holds): Promise<void> {
    this.#next = { step, holds };
    await this.state.changeOverIfLong();
  }

  /** The newest attempt, as activities are told of it. */
  get attemptRef(): AttemptRef {
    return { work: this.state.work, attemptId: this.state.attempt.id };
  }

  /** What follows an end. */
  get nothingMore(): string {
    return `Nothing: the ${this.state.noun} has ended.`;
  }

  /** Where to go on from the state of the attempt, as a run that starts anew finds it. */
  fromAttempt(): Step {
    const { state, failure, named } = this.state.attempt;
    switch (state) {
      case 'prepared':
        return { step: 'send' };
      case 'sending':
        return this.afterSend({ kind: 'failure', failure: 'worker_lost' });
      case 'unknown':
        // A person has said under which id the service has it: nothing is sent again, the service is asked.
        if (named) return { step: 'look_up', failure: failure?.class ?? 'worker_lost' };
        return this.afterSend({ kind: 'failure', failure: failure?.class ?? 'worker_lost' });
      case 'refused':
        return this.afterSend({ kind: 'failure', failure: failure?.class ?? 'worker_lost' });
      case 'processing':
        // The refund failed: only the eSIM itself tells whether that was the refusal of the whole cancellation.
        return this.#isRefundAlone ? { step: 'look_up', failure: 'cancellation_refused' } : afterAcceptance(state);
      case 'completed':
        return afterAcceptance(state);
      case 'failed':
        return this.state.attempt.settled
          ? {
              step: 'buy_anew',
              evidence: 'That it cost nothing is settled, by the wallet or by the word of an operator.',
            }
          : afterAcceptance(state);
    }
  }

  /** True when all that is known of a cancellation is that its refund failed. */
  get #isRefundAlone(): boolean {
    const { cancellation } = this.state;
    return cancellation?.refundFailed === true && cancellation.cancelledAt === undefined;
  }

  /** What follows a send: the rules are the domain's. */
  afterSend(outcome: SendOutcome): NextStep {
    const history = { ...this.state.attempt.history, holds: this.holds };
    return decideAfterSend(outcome, history, this.policy, Date.now(), this.state.retryOverrides);
  }

  /** A person acted. What that person said of the attempt goes first. @param otherwise when it is as it was. */
  afterAct(otherwise: Step): Step {
    const { state, named } = this.state.attempt;
    return state === 'processing' || state === 'completed' || state === 'failed' || named
      ? this.fromAttempt()
      : otherwise;
  }

  /** Goes where the service's word leads; the relay has judged it and stored its facts with the attempt. */
  async answerObservations(): Promise<Step> {
    const taken = this.context.observations.takeAll();
    this.state.answer(taken.map(({ inboxId }) => inboxId));
    // After a contradiction nothing that the service says moves anything before a person has judged: it is noted, with
    // the relay's facts.
    if (this.state.attention === 'contradiction') return ONE_MORE_WORD;
    if (taken.some(({ decision }) => decision === 'contradiction')) return CONTRADICTION;
    await this.state.reload();
    if (this.state.attempt.state === 'processing') {
      const { now: message, next } = this.going;
      await this.state.record({ status: 'processing', message, next });
    }
    return this.fromAttempt();
  }

  /** What is shown while the service is at work on it. */
  get going(): { readonly now: string; readonly next: string } {
    const isCancelled = this.state.cancellation?.cancelledAt !== undefined;
    return {
      now: isCancelled
        ? 'The eSIM is cancelled; the service decides about its refund.'
        : `The service has accepted the ${this.state.noun} and is working on it.`,
      next: 'Its webhook; should none come, the reconciler asks.',
    };
  }

  /**
   * Nothing may be bought, and nothing fail, at this moment: a person is told, or the observation that is on its way is
   * waited for.
   *
   * @param then the step to try again when it does not come in time.
   */
  async barred(by: BuyingBarrier, then: Step): Promise<Step> {
    if (by === 'contradiction') return CONTRADICTION;
    const detail = 'What the service said of it has not been judged yet.';
    const delayMs = await this.stalled(this.policy.barredRetryMs, detail);
    const woken = await this.state.wait(delayMs, WAIT_NAMES.unjudgedWord());
    if (woken === 'observation') return this.answerObservations();
    return woken === 'operator' ? this.afterAct(then) : then;
  }

  /**
   * Something of ours does not work. After a while a case says so; it goes on by itself.
   *
   * @param firstMs the first wait. @returns how long to wait until it is tried again, in milliseconds.
   */
  async stalled(firstMs: number, detail: string): Promise<number> {
    const { since, tries } = this.#stall ?? { since: Date.now(), tries: 0 };
    this.#stall = { since, tries: tries + 1 };
    const delayMs = backoffMs(firstMs, this.policy.barredRetryMaxMs, tries + 1);
    if (Date.now() - since < this.policy.stalledAfterMs) return delayMs;
    const status = 'needs_attention';
    const message = `It does not move since ${new Date(since).toISOString()}: ${detail}`;
    const next = 'It is tried again by itself.';
    const nextStepAt = Date.now() + delayMs;
    const { attention } = this.state;
    if (attention === undefined)
      await this.state.record({ status, message, attention: { reason: 'stalled', detail }, nextStepAt, next });
    else this.state.show({ status, now: message, next, attention, nextStepAt });
    return delayMs;
  }

  /** It moves again. */
  moves(): void {
    this.#stall = undefined;
  }

  /**
   * Ends it without effect, unless PostgreSQL knows more: that it may have been bought, or that an observation waits to
   * be judged.
   */
  async fail({ failure, detail: given }: StepNamed<'fail'> & { readonly detail?: string }): Promise<Step> {
    const { kind } = this.state.work;
    const status = ENDS_WITHOUT_EFFECT[kind];
    const detail = given ?? this.state.attempt.failure?.detail ?? FAILURE_CLASSES[failure].meaning;
    const recorded = await this.state.record({
      status,
      message: `${kind === 'cancellation' ? 'Refused; the eSIM is not cancelled' : 'Failed for good, and nothing was bought'}: ${detail}`,
      failure: { class: failure, detail },
      next: this.nothingMore,
    });
    if (recorded === 'may_be_bought' || recorded === 'judged' || recorded === 'changed') {
      await this.state.reload();
      return this.fromAttempt();
    }
    if (recorded !== 'recorded') return this.barred(recorded, { step: 'fail', failure, detail });
    return { step: 'end', end: { status, failure } };
  }

  /**
   * Asks again, by growing waits, what could not be asked. A case says so meanwhile, with the time of the next
   * question; the wait ends by itself, by an action of a person, or by a report of the service.
   */
  async askAgain(step: StepNamed<'ask_again'>): Promise<Step> {
    const { reason, detail } = step;
    const failureClass = step.failure ?? this.state.attempt.failure?.class ?? 'timeout';
    this.asks += 1;
    const delayMs = backoffMs(this.policy.askAgainMs, this.policy.askAgainMaxMs, this.asks);
    const wakeAt = Date.now() + delayMs;
    const failure =
      step.failure === undefined ? undefined : (this.state.attempt.failure ?? { class: step.failure, detail });
    const recorded = await this.state.record({
      status: 'needs_attention',
      message: `Waits until the service is asked again. ${detail}`,
      attention: { reason, detail: `${detail} It is asked again at ${new Date(wakeAt).toISOString()}.` },
      attemptState: this.state.attempt.state,
      ...(failure !== undefined && { failure }),
      nextStepAt: wakeAt,
      next: 'The service is asked again by itself; a person may ask at once with `retry`.',
    });
    if (recorded === 'judged' || recorded === 'changed') {
      await this.state.reload();
      return this.fromAttempt();
    }
    const then = STEPS_OF_QUESTIONS[step.resume](failureClass, detail);
    const woken = await this.state.wait(delayMs, WAIT_NAMES.notAnswered(reason));
    if (woken === 'observation') return this.answerObservations();
    if (woken === 'operator') {
      // What a person asks for is done at once, whatever was tried before.
      this.proofs = 0;
      return this.fromAttempt();
    }
    // The row may know more by now, or less.
    const before = this.state.attempt;
    await this.state.reload();
    return isSame(before, this.state.attempt) ? then : this.fromAttempt();
  }

  /** Tells a person, and waits for one, or for a word of the service. */
  async park(step: StepNamed<'park'>): Promise<Step> {
    // The run before has recorded it, and nothing has happened since.
    if (step.isRecorded === true) return this.#waitForPerson(step);
    // Of a contradiction PostgreSQL knows whether a person has judged it: another act does not let it go on.
    if (this.state.isActedOn && step.reason !== 'contradiction') {
      // What a person did while it came to this goes first.
      await this.state.reload();
      return this.fromAttempt();
    }
    const failure =
      step.failure === undefined
        ? undefined
        : (this.state.attempt.failure ?? { class: step.failure, detail: step.detail });
    const recorded = await this.state.record({
      status: 'needs_attention',
      message: `Waits for a person: ${step.detail}`,
      attention: { reason: step.reason, detail: step.detail },
      // A contradiction is judged by its case, whatever the attempt is by now.
      ...(step.reason !== 'contradiction' && { attemptState: this.state.attempt.state }),
      ...(failure !== undefined && { failure }),
      next: 'A person decides, or the service says more.',
    });
    if (recorded === 'judged' || recorded === 'changed') {
      await this.state.reload();
      return this.fromAttempt();
    }
    return this.#waitForPerson(step);
  }

  async #waitForPerson(step: StepNamed<'park'>): Promise<Step> {
    this.#next = { step: { ...step, isRecorded: true }, holds: this.holds };
    const woken = await this.state.waitForWord(step.reason);
    return woken === 'observation' ? this.answerObservations() : this.fromAttempt();
  }
}

/** By what was asked, the step that asks it again. */
const STEPS_OF_QUESTIONS: Readonly<
  Record<StepNamed<'ask_again'>['resume'], (failure: FailureClass, detail: string) => Step>
> = {
  look_up: (failure) => ({ step: 'look_up', failure }),
  settle: (failure) => ({ step: 'settle', failure }),
  deliver: () => ({ step: 'deliver' }),
  prove_absence: (failure, detail) => ({ step: 'prove_absence', failure, detail }),
};

function isSame(left: AttemptView, right: AttemptView): boolean {
  return (
    left.id === right.id &&
    left.state === right.state &&
    left.history.sends === right.history.sends &&
    left.named === right.named
  );
}
