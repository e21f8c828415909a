import { proxyActivities } from '@temporalio/workflow';
import type { LookUpResult, PurchaseActivities, SendResult } from '#activities/work-types.ts';
import { FAILURE_CLASSES } from '#domain/failure.ts';
import { backoffMs, type PurchasePolicy } from '#domain/policy.ts';
import { equalWaits } from '#domain/retry-rules.ts';
import { DEADLINES_OF_READS, HEARTBEAT_TIMEOUT, repeatedlyAsking } from '#workflows/activity-options.ts';
import type { PurchasePosition } from '#workflows/purchase-position.ts';
import type { Step, StepNamed } from '#workflows/purchase-steps.ts';
import { WAIT_NAMES } from '#workflows/wait-names.ts';
import { requireGivenUp, type WorkState } from '#workflows/work-state.ts';

/** The steps that bring an attempt to the service: sending it, waiting until it may be sent, and asking what became of it. */
export class PurchaseSubmission {
  readonly #position: PurchasePosition;
  readonly #state: WorkState;
  readonly #policy: PurchasePolicy;
  readonly #reads: Pick<PurchaseActivities, 'lookUpPurchase'>;

  constructor(position: PurchasePosition) {
    this.#position = position;
    this.#state = position.state;
    this.#policy = position.policy;
    this.#reads = proxyActivities<Pick<PurchaseActivities, 'lookUpPurchase'>>(repeatedlyAsking(position.policy, DEADLINES_OF_READS));
  }

  /** Sends the attempt, unless the service has said something of it meanwhile, or its time is over. */
  async send(): Promise<Step> {
    if (!this.#position.context.observations.isEmpty) return this.#position.answerObservations();
    if (Date.now() >= this.#state.deadline && !this.#state.attempt.history.anyUnknown) {
      return this.#position.fail('deadline_passed', FAILURE_CLASSES.deadline_passed.meaning);
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
    if (outcome.kind === 'barred') return this.#position.barred(outcome.by, { step: 'send' });
    if (outcome.kind === 'too_late' || outcome.kind === 'resend_not_allowed') {
      return { step: 'look_up', failure: this.#state.attempt.failure?.class ?? 'worker_lost' };
    }
    return this.#position.afterSend(outcome);
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
      return await sendPurchase({ ...this.#position.attemptRef, ...(resendAllowed && { resendWindowMs }), retryRule });
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
    return this.#position.fromAttempt();
  }

  /** Keeps what cost nothing until it may be sent again: growing waits, or the purchase gate's word; at its deadline it fails. */
  async hold(step: StepNamed<'hold'>): Promise<Step> {
    const { failure, gated, asked = false } = step;
    await this.#state.continueAsNewIfLong(this.#position.holds);
    // What the gate holds was not tried: it lengthens no wait.
    if (gated === undefined) this.#position.holds += 1;
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
      const where = gated === undefined ? WAIT_NAMES.hold(failure, this.#position.holds) : WAIT_NAMES.gate(failure);
      const { retryOverrides, rule } = this.#state;
      const woken = await this.#state.wait(wakeAt - Date.now(), where);
      if (woken === 'observation') return this.#position.answerObservations();
      if (woken === 'time') {
        if (Date.now() < this.#state.deadline) return { step: 'send' };
        return this.#position.fail('deadline_passed', `The deadline passed while the ${this.#state.noun} was held: ${detail}`);
      }
      const acted = this.#position.afterAct({ step: 'send' });
      // The gate is asked in any case; what is held otherwise waits on, by the changed rule.
      const waitsOn = gated === undefined && acted.step === 'send' && this.#state.isOnlyRescheduled(retryOverrides, wakeAt);
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
    if (woken === 'operator') return this.#position.afterAct({ step: 'send' });
    return woken === 'observation' ? this.#position.answerObservations() : { step: 'send' };
  }

  /** Waits until another send of the attempt is over for certain. */
  async waitForLease(step: StepNamed<'wait_for_lease'>): Promise<Step> {
    const woken = await this.#state.wait(step.delayMs, WAIT_NAMES.otherSend());
    return woken === 'observation' ? this.#position.answerObservations() : { step: 'send' };
  }

  /** Asks the service, a few times, what became of an attempt that may not be sent again; then a person is told. */
  async lookUp(step: StepNamed<'look_up'>): Promise<Step> {
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
        return this.#position.fromAttempt();
      }
      detail = result.kind === 'not_found' ? 'The service does not list it.' : result.failure.detail;
      if (n === this.#policy.lookUps) break;
      const delay = backoffMs(this.#policy.resendDelayMs, this.#policy.resendDelayMaxMs, n);
      const woken = await this.#state.wait(delay, WAIT_NAMES.lookUp(this.#state.attempt.number));
      if (woken === 'observation') return this.#position.answerObservations();
      if (woken === 'operator') return this.#position.afterAct(step);
    }
    return { step: 'park', reason: 'outcome_unknown', detail, failure: step.failure };
  }

  /** A question that was given up says nothing. */
  async #askService(): Promise<LookUpResult> {
    try {
      return await this.#reads.lookUpPurchase(this.#position.attemptRef);
    } catch (error) {
      requireGivenUp(error);
      return { kind: 'unavailable', failure: { class: 'timeout', detail: 'The service could not be asked for a long time.' } };
    }
  }
}
