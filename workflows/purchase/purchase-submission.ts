import { proxyActivities } from '@temporalio/workflow';
import type { AbsenceResult, PurchaseLookUp, PurchaseActivities, SendResult } from '#activities/work/work-types.ts';
import { backoffMs } from '#domain/policy/backoff.ts';
import type { PurchasePolicy } from '#domain/policy/purchase-policy.ts';
import { isLookUpRetried } from '#domain/policy/workflow-policy.ts';
import { isNeverResent, type SendOutcome } from '#domain/purchase/purchase-decision.ts';
import { FAILURE_CLASSES, isDefiniteAnswer, type FailureClass } from '#domain/work/failure.ts';
import { equalWaits } from '#domain/work/retry-rules.ts';
import { isNotBegun, requireGivenUp } from '#workflows/activity-failures.ts';
import { DEADLINES_OF_READS, HEARTBEAT_TIMEOUT, repeatedlyAsking } from '#workflows/activity-options.ts';
import type { PurchasePosition } from '#workflows/purchase/purchase-position.ts';
import type { Step, StepNamed } from '#workflows/purchase/purchase-steps.ts';
import { WAIT_NAMES } from '#workflows/purchase/wait-names.ts';
import type { WorkState } from '#workflows/purchase/work-state.ts';

/**
 * The steps that bring an attempt to the service: sending it, waiting until it may be sent, and asking what became of
 * it.
 */
export class PurchaseSubmission {
  readonly #position: PurchasePosition;
  readonly #state: WorkState;
  readonly #policy: PurchasePolicy;
  readonly #reads: Pick<PurchaseActivities, 'lookUpPurchase' | 'proveAbsence'>;

  constructor(position: PurchasePosition) {
    this.#position = position;
    this.#state = position.state;
    this.#policy = position.policy;
    this.#reads = proxyActivities<Pick<PurchaseActivities, 'lookUpPurchase' | 'proveAbsence'>>(
      repeatedlyAsking(position.policy, DEADLINES_OF_READS),
    );
  }

  /** Sends the attempt, unless the service has said something of it meanwhile, or its time is over. */
  async send(): Promise<Step> {
    if (!this.#position.context.observations.isEmpty) return this.#position.answerObservations();
    if (Date.now() >= this.#state.deadline && !this.#state.attempt.history.anyUnknown) {
      return this.#position.fail({
        step: 'fail',
        failure: 'deadline_passed',
        detail: FAILURE_CLASSES.deadline_passed.meaning,
      });
    }
    this.#state.show({
      status: 'submitting',
      now: `Attempt ${this.#state.attempt.number} is being sent to the service.`,
      next: 'The answer of the service.',
    });
    const result = await this.#sendOnce();
    if (result === undefined) return this.#afterLostSend();

    const { outcome } = result;
    if (outcome.kind === 'barred') return this.#position.barred(outcome.by, { step: 'send' });
    // PostgreSQL has lost what was recorded of earlier sends: what this one came to proves nothing then.
    if (outcome.kind === 'records_lost' || this.#position.context.memory.knowsMoreThan(result.attempt)) {
      await this.#state.reload();
      return this.#position.fromAttempt();
    }
    this.#state.attempt = result.attempt;
    if (outcome.kind === 'too_late' || outcome.kind === 'resend_not_allowed') {
      return { step: 'look_up', failure: this.#state.attempt.failure?.class ?? 'worker_lost' };
    }
    this.#position.moves();
    if (isAnswered(outcome)) this.#position.proofs = 0;
    return this.#position.afterSend(outcome);
  }

  /**
   * One send, one Temporal attempt: the decision about another is made here, in the open. @returns undefined when the
   * outcome was lost with the worker.
   */
  async #sendOnce(): Promise<SendResult | undefined> {
    const { sendPurchase } = proxyActivities<Pick<PurchaseActivities, 'sendPurchase'>>({
      startToCloseTimeout: this.#policy.sendActivityTimeoutMs,
      heartbeatTimeout: HEARTBEAT_TIMEOUT,
      retry: { maximumAttempts: 1 },
      summary: `Send attempt ${this.#state.attempt.number}, send ${this.#state.attempt.history.sends + 1}`,
    });
    const { memory } = this.#position.context;
    memory.beginSend(this.#state.attempt);
    try {
      const { configuredRule: retryRule } = this.#state;
      const { resendAllowed, resendWindowMs } = this.#policy;
      const { witness } = memory;
      const window = resendAllowed ? { resendWindowMs } : {};
      const result = await sendPurchase({
        ...this.#position.attemptRef,
        ...window,
        retryRule,
        ...(witness !== undefined && { witness }),
      });
      memory.endSend();
      return result;
    } catch (error) {
      requireGivenUp(error);
      // Whatever PostgreSQL has lost since: the activity says that no request has left.
      if (isNotBegun(error)) memory.endSend();
      return undefined;
    }
  }

  /** The worker died, or PostgreSQL was gone when the result was to be stored: read what is known of the attempt. */
  async #afterLostSend(): Promise<Step> {
    await this.#state.reload();
    const { state, number } = this.#state.attempt;
    if (state !== 'prepared' && state !== 'refused') return this.#position.fromAttempt();
    // The send never began. It is tried again by growing waits, so that workers that fail at once are not asked in a
    // tight loop.
    const delayMs = await this.#position.stalled(this.#policy.resendDelayMs, 'Its sends fail before they begin.');
    if (this.#state.attention === undefined) {
      const nextStepAt = Date.now() + delayMs;
      this.#state.show({
        status: 'submitting',
        now: `The send of attempt ${number} did not begin.`,
        next: 'It is tried again.',
        failure: 'worker_lost',
        nextStepAt,
      });
    }
    const woken = await this.#state.wait(delayMs, WAIT_NAMES.notBegun(number));
    if (woken === 'operator') return this.#position.afterAct({ step: 'send' });
    return woken === 'observation' ? this.#position.answerObservations() : { step: 'send' };
  }

  /**
   * Keeps what cost nothing until it may be sent again: growing waits, or the purchase gate's word; at its deadline it
   * fails.
   */
  async hold(step: StepNamed<'hold'>): Promise<Step> {
    const { failure, gated, asked = false } = step;
    const holdsBefore = this.#position.holds;
    // What the gate holds was not tried: it lengthens no wait.
    if (gated === undefined) this.#position.holds += 1;
    this.#state.heldFor = failure;
    const since = Date.now();
    const { meaning, advice } = FAILURE_CLASSES[failure];
    const detail = gated ?? this.#state.attempt.failure?.detail ?? meaning;
    let { delayMs } = step;
    for (;;) {
      await this.#position.before({ ...step, delayMs: Math.max(1, since + delayMs - Date.now()) }, holdsBefore);
      const wakeAt = Math.min(since + delayMs, this.#state.deadline);
      await this.#state.record({
        status: 'held',
        message: gated === undefined ? `Held: ${detail}` : `Held at the purchase gate: ${detail}`,
        failure: { class: failure, detail },
        nextStepAt: wakeAt,
        retryRule: this.#state.configuredRule,
        next:
          gated === undefined
            ? `The same attempt is sent again. ${advice}`
            : `The gate lets it through when that is over, the oldest first. ${advice}`,
      });
      const where = gated === undefined ? WAIT_NAMES.hold(failure, this.#position.holds) : WAIT_NAMES.gate(failure);
      const { retryOverrides, rule } = this.#state;
      const woken = await this.#state.wait(wakeAt - Date.now(), where);
      if (woken === 'observation') return this.#position.answerObservations();
      if (woken === 'time') {
        if (Date.now() < this.#state.deadline) return { step: 'send' };
        return this.#position.fail({
          step: 'fail',
          failure: 'deadline_passed',
          detail: `The deadline passed while the ${this.#state.noun} was held: ${detail}`,
        });
      }
      const acted = this.#position.afterAct({ step: 'send' });
      // The gate is asked in any case; what is held otherwise waits on, by the changed rule.
      const waitsOn =
        gated === undefined && acted.step === 'send' && this.#state.isOnlyRescheduled(retryOverrides, wakeAt);
      if (!waitsOn || !equalWaits(rule, this.#state.rule)) {
        // Something has changed: should it be held again, the waits begin anew with the shortest.
        this.#position.holds = waitsOn ? 1 : 0;
        // Where the service said itself when to come back, that stays.
        if (!asked) delayMs = this.#state.rule.firstDelayMs;
      }
      if (!waitsOn) return acted;
    }
  }

  /** Waits before the bytes whose outcome is unknown are sent once more. */
  async resend(step: StepNamed<'resend'>): Promise<Step> {
    const wakeAt = Date.now() + step.delayMs;
    const detail = this.#state.attempt.failure?.detail ?? FAILURE_CLASSES[step.failure].meaning;
    const atGate = step.gated === undefined ? '' : ` The purchase gate holds that up: ${step.gated}`;
    // What the gate has against a send is no word on what became of the one before, which is what callers have to know.
    const failure = (step.gated === undefined ? undefined : this.#state.attempt.failure) ?? {
      class: step.failure,
      detail,
    };
    await this.#state.record({
      status: 'submitting',
      event: 'attempt.resend_planned',
      message: `Outcome unknown: ${detail} The same bytes are sent again with the same key.${atGate}`,
      failure,
      nextStepAt: wakeAt,
      next: 'The same bytes are sent again with the same idempotency key.',
    });
    const woken = await this.#state.wait(step.delayMs, WAIT_NAMES.resend(this.#state.attempt.number, step.failure));
    if (woken === 'operator') return this.#position.afterAct({ step: 'send' });
    return woken === 'observation' ? this.#position.answerObservations() : { step: 'send' };
  }

  /** Waits until another send of the attempt is over for certain. */
  async waitForLease(step: StepNamed<'wait_for_lease'>): Promise<Step> {
    const woken = await this.#state.wait(step.delayMs, WAIT_NAMES.otherSend());
    return woken === 'observation' ? this.#position.answerObservations() : { step: 'send' };
  }

  /**
   * Asks the service, a few times, what became of an attempt that may not be sent again. What could not be asked is
   * asked again later; what was asked and is not known is proven absent, or a person is told.
   */
  async lookUp(step: StepNamed<'look_up'>): Promise<Step> {
    const { failure } = step;
    for (let n = 1; ; n += 1) {
      this.#showQuestion(step, n);
      const result = await this.#askService();
      if (result.kind === 'found') {
        this.#position.asks = 0;
        await this.#state.reload();
        return this.#position.fromAttempt();
      }
      const isLast = n >= this.#policy.lookUps;
      if (result.kind === 'not_found') {
        this.#position.asks = 0;
        if (isLast) return this.#afterNotFound(step);
      } else {
        const { detail } = result.failure;
        const isPassing = isLookUpRetried(result.failure.class);
        // A service that does not answer for long is asked once at a time.
        if (isPassing && (isLast || this.#position.asks > 0))
          return { step: 'ask_again', reason: 'not_answered', detail, failure, resume: 'look_up' };
        if (isLast) return this.#parkUnknown(detail, failure);
      }
      const delay = backoffMs(this.#policy.resendDelayMs, this.#policy.resendDelayMaxMs, n);
      const woken = await this.#state.wait(delay, WAIT_NAMES.lookUp(this.#state.attempt.number));
      if (woken === 'observation') return this.#position.answerObservations();
      if (woken === 'operator') return this.#position.afterAct(step);
    }
  }

  #showQuestion({ failure }: StepNamed<'look_up'>, n: number): void {
    // What waits for a person does so while the service is asked once more.
    const { attention } = this.#state;
    this.#state.show({
      status: attention === undefined ? 'submitting' : 'needs_attention',
      now: `The outcome of the ${this.#state.noun} is unknown; the service is being asked.`,
      next: `What the service says; if it knows nothing, a person is told (look-up ${n} of ${this.#policy.lookUps}).`,
      failure,
      attention,
    });
  }

  /** The service was asked and does not list it. */
  #afterNotFound({ failure }: StepNamed<'look_up'>): Step {
    const detail = 'The service does not list it.';
    if (this.#isOverdue) return this.#parkOverdue(failure);
    const mayBeSentAgain = this.#policy.resendAllowed && !isNeverResent(failure) && !this.#state.attempt.named;
    if (!mayBeSentAgain) return this.#parkUnknown(detail, failure);
    const { proofs } = this.#position;
    if (proofs === 0) return { step: 'prove_absence', failure, detail };
    // The sends after the last proof were not answered, or none left in time. The next proof waits longer, and a case
    // says so.
    this.#position.asks = proofs - 1;
    return {
      step: 'ask_again',
      reason: 'not_answered',
      detail: `${detail} No send of it was answered since.`,
      failure,
      resume: 'prove_absence',
    };
  }

  get #isOverdue(): boolean {
    return Date.now() >= this.#state.deadline;
  }

  /**
   * It may not be bought any more, and may not fail either: no failure was reported for the attempt, and a request may
   * still arrive.
   */
  #parkOverdue(failure: FailureClass): Step {
    const detail =
      'Its deadline passed while its outcome was unknown, and the service does not list it: nothing is sent again.';
    return this.#parkUnknown(detail, failure);
  }

  #parkUnknown(detail: string, failure: FailureClass): Step {
    const reason = this.#position.context.memory.witness?.isRestored === true ? 'records_lost' : 'outcome_unknown';
    return { step: 'park', reason, detail, failure };
  }

  /**
   * A complete list without it and a complete wallet without its debit, both read long enough after the last send, show
   * that no send so far has bought. The attempt stays unknown, since a request may still be on its way: it neither
   * fails nor is it bought anew. The same bytes are sent again with the same key, in a window that begins anew; a
   * request that arrives late meets the same key.
   */
  async proveAbsence(step: StepNamed<'prove_absence'>): Promise<Step> {
    const { failure } = step;
    const woken = await this.#state.wait(this.#policy.settleDelayMs, WAIT_NAMES.absence(this.#state.attempt.number));
    if (woken === 'observation') return this.#position.answerObservations();
    if (woken === 'operator') {
      this.#position.proofs = 0;
      return this.#position.afterAct({ step: 'look_up', failure });
    }
    const result = await this.#readAbsence();
    if (result.kind === 'unproven') {
      const { detail } = result;
      if (result.mayPass)
        return { step: 'ask_again', reason: 'not_answered', detail, failure, resume: 'prove_absence' };
      return this.#parkUnknown(detail, failure);
    }
    this.#position.asks = 0;
    await this.#state.reload();
    if (result.kind === 'changed') return this.#position.fromAttempt();
    if (this.#isOverdue) return this.#parkOverdue(failure);
    this.#position.proofs += 1;
    // At once: the service answers, and the window is running.
    return { step: 'send' };
  }

  async #readAbsence(): Promise<AbsenceResult> {
    try {
      return await this.#reads.proveAbsence(this.#position.attemptRef);
    } catch (error) {
      requireGivenUp(error);
      return { kind: 'unproven', mayPass: true, detail: 'The service could not be asked for a long time.' };
    }
  }

  /** A question that was given up says nothing. */
  async #askService(): Promise<PurchaseLookUp> {
    try {
      return await this.#reads.lookUpPurchase(this.#position.attemptRef);
    } catch (error) {
      requireGivenUp(error);
      return {
        kind: 'unavailable',
        failure: { class: 'timeout', detail: 'The service could not be asked for a long time.' },
      };
    }
  }
}

/** True when the service has answered the send. A send that the gate, another send or we stopped has no answer. */
function isAnswered(outcome: SendOutcome): boolean {
  return outcome.kind === 'accepted' || (outcome.kind === 'failure' && isDefiniteAnswer(outcome.failure));
}
