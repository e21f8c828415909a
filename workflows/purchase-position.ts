import type { AttemptRef } from '#activities/work-types.ts';
import type { FailureClass } from '#domain/failure.ts';
import { ENDS_WITHOUT_EFFECT } from '#domain/lifecycle.ts';
import type { PurchasePolicy } from '#domain/policy.ts';
import { afterAcceptance, decideAfterSend, type BuyingBarrier, type NextStep, type SendOutcome } from '#domain/purchase-decision.ts';
import { CONTRADICTION, ONE_MORE_WORD, type Step, type StepNamed } from '#workflows/purchase-steps.ts';
import { WAIT_NAMES } from '#workflows/wait-names.ts';
import type { RunContext, WorkState } from '#workflows/work-state.ts';

/** Where one purchase stands in its run: how to go on from there, and the ends that it can come to at every step. */
export class PurchasePosition {
  readonly context: RunContext;
  readonly state: WorkState;
  readonly policy: PurchasePolicy;
  /** How often in a row it was held for what an attempt met: each such wait is longer than the one before. */
  holds: number;

  constructor(context: RunContext, state: WorkState) {
    this.context = context;
    this.state = state;
    this.policy = context.input.policy;
    this.holds = context.input.carried?.holds ?? 0;
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
        return this.state.attempt.settled ? { step: 'buy_anew', evidence: 'That it cost nothing is settled, by the wallet or by the word of an operator.' } : afterAcceptance(state);
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
    return state === 'processing' || state === 'completed' || state === 'failed' || named ? this.fromAttempt() : otherwise;
  }

  /** Goes where the service's word leads; the relay has judged it and stored its facts with the attempt. */
  async answerObservations(): Promise<Step> {
    const taken = this.context.observations.takeAll();
    this.state.answer(taken.map(({ inboxId }) => inboxId));
    // After a contradiction nothing that the service says moves anything before a person has judged: it is noted, with the relay's facts.
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
   * Nothing may be bought, and nothing fail, at this moment: a person is told, or the word of the service that is on its
   * way is waited for.
   *
   * @param otherwise the step to try again when that word does not come in time.
   */
  async barred<Otherwise extends Step | undefined>(by: BuyingBarrier, otherwise: Otherwise): Promise<Step | Otherwise> {
    if (by === 'contradiction') return CONTRADICTION;
    const woken = await this.state.wait(this.policy.barredRetryMs, WAIT_NAMES.unjudgedWord());
    return woken === 'observation' ? this.answerObservations() : otherwise;
  }

  /** Ends it without effect, unless PostgreSQL knows more: that it may have been bought, or that a word waits to be judged. */
  async fail(failure: FailureClass, detail: string): Promise<Step> {
    const { kind } = this.state.work;
    const status = ENDS_WITHOUT_EFFECT[kind];
    const recorded = await this.state.record({
      status,
      message: `${kind === 'cancellation' ? 'Refused; the eSIM is not cancelled' : 'Failed for good, and nothing was bought'}: ${detail}`,
      failure: { class: failure, detail },
      next: this.nothingMore,
    });
    if (recorded === 'may_be_bought' || recorded === 'judged') {
      await this.state.reload();
      return this.fromAttempt();
    }
    if (recorded !== 'recorded') return (await this.barred(recorded, undefined)) ?? this.fail(failure, detail);
    return { step: 'end', end: { status, failure } };
  }

  /** Tells a person, and waits for one, or for a word of the service. */
  async park(step: StepNamed<'park'>): Promise<Step> {
    // Of a contradiction PostgreSQL knows whether a person has judged it: another act does not let it go on.
    if (this.state.isActedOn && step.reason !== 'contradiction') {
      // What a person did while it came to this goes first.
      await this.state.reload();
      return this.fromAttempt();
    }
    const failure = step.failure === undefined ? undefined : (this.state.attempt.failure ?? { class: step.failure, detail: step.detail });
    const recorded = await this.state.record({
      status: 'needs_attention',
      message: `Waits for a person: ${step.detail}`,
      attention: { reason: step.reason, detail: step.detail },
      ...(failure !== undefined && { failure }),
      next: 'A person decides, or the service says more.',
    });
    if (recorded === 'judged') {
      await this.state.reload();
      return this.fromAttempt();
    }
    const woken = await this.state.waitForWord(step.reason);
    return woken === 'observation' ? this.answerObservations() : this.fromAttempt();
  }
}
