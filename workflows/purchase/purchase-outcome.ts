import { proxyActivities } from '@temporalio/workflow';
import type { CompletionResult, EvidenceResult, PurchaseActivities } from '#activities/work/work-types.ts';
import { backoffMs } from '#domain/policy/backoff.ts';
import type { PurchasePolicy } from '#domain/policy/purchase-policy.ts';
import { isLookUpRetried } from '#domain/policy/workflow-policy.ts';
import { costNothing, decideSettlement } from '#domain/purchase/purchase-decision.ts';
import { FAILURE_CLASSES } from '#domain/work/failure.ts';
import type { WorkStatus } from '#domain/work/lifecycle.ts';
import type { WorkKind } from '#domain/work/work.ts';
import { requireGivenUp } from '#workflows/activity-failures.ts';
import { DEADLINES_OF_READS, repeatedlyAsking } from '#workflows/activity-options.ts';
import type { Standing } from '#workflows/purchase/progress.ts';
import type { PurchasePosition } from '#workflows/purchase/purchase-position.ts';
import type { Step, StepNamed } from '#workflows/purchase/purchase-steps.ts';
import { WAIT_NAMES, type WaitName } from '#workflows/purchase/wait-names.ts';
import { database } from '#workflows/purchase/work-records.ts';
import type { WorkState } from '#workflows/purchase/work-state.ts';

/** What is read from the service to complete each kind, what it then is, and the case of a read that never succeeds. */
const WORDING = {
  order: {
    missing: 'eSIM',
    status: 'completed',
    overdue: 'delivery_unavailable',
    done: (esimId = '') => `The eSIM ${esimId} was delivered.`,
  },
  topup: {
    missing: 'price',
    status: 'completed',
    overdue: 'delivery_unavailable',
    done: (esimId = '') => `The eSIM ${esimId} was recharged.`,
  },
  vpn_subscription: {
    missing: 'access data',
    status: 'active',
    overdue: 'delivery_unavailable',
    done: () => 'The VPN subscription is active.',
  },
  cancellation: {
    missing: 'refund',
    status: 'completed',
    overdue: 'refund_missing',
    done: (esimId = '') => `The eSIM ${esimId} is cancelled.`,
  },
} as const satisfies Record<
  WorkKind,
  { missing: string; status: WorkStatus; overdue: StepNamed<'ask_again'>['reason']; done: (esimId?: string) => string }
>;

/**
 * The steps that follow what the service says of an attempt: waiting for it, completing it, or proving that it cost
 * nothing and buying anew.
 */
export class PurchaseOutcome {
  readonly #position: PurchasePosition;
  readonly #state: WorkState;
  readonly #policy: PurchasePolicy;
  readonly #reads: Pick<PurchaseActivities, 'readDebitEvidence'>;

  constructor(position: PurchasePosition) {
    this.#position = position;
    this.#state = position.state;
    this.#policy = position.policy;
    this.#reads = proxyActivities<Pick<PurchaseActivities, 'readDebitEvidence'>>(
      repeatedlyAsking(position.policy, DEADLINES_OF_READS),
    );
  }

  /** Waits for the word of the service about what it has accepted. */
  async awaitService(): Promise<Step> {
    // The money is there, whatever the service says of it.
    if (this.#state.cancellation?.cancelledAt !== undefined && this.#state.cancellation.refundPaid)
      return { step: 'deliver' };
    await this.#state.goOn({ status: 'processing', ...this.#position.going });
    const { until, summary, otherwise } = this.#patience;
    const woken = await this.#state.wait(until - Date.now(), summary);
    const isAwaited = woken === 'operator' && this.#state.attempt.state === 'processing';
    if (!isAwaited) this.#position.awaitedSince = undefined;
    if (woken === 'observation') return this.#position.answerObservations();
    // The row decides: where PostgreSQL was set back it may be unknown again.
    return woken === 'time' ? otherwise : this.#position.fromAttempt();
  }

  /** How long the service is waited for, in epoch milliseconds, and what follows when it says nothing all the while. */
  get #patience(): { readonly until: number; readonly summary: WaitName; readonly otherwise: Step } {
    const { cancellation, attempt } = this.#state;
    if (cancellation === undefined) {
      this.#position.awaitedSince ??= Date.now();
      const until = this.#position.awaitedSince + this.#policy.silentDeadlineMs;
      return { until, summary: WAIT_NAMES.service(), otherwise: { step: 'look_up', failure: 'timeout' } };
    }
    const { cancelledAt, acceptWithoutRefund, refundOpen } = cancellation;
    const isGraced = cancelledAt !== undefined && acceptWithoutRefund && !refundOpen;
    const since = cancelledAt ?? attempt.history.firstSentAt ?? this.#position.context.snapshot.acceptedAt;
    const until = since + (isGraced ? this.#policy.refundGraceMs : this.#policy.refundDeadlineMs);
    return { until, summary: WAIT_NAMES.refund(), otherwise: { step: 'deliver' } };
  }

  /** Reads what was bought and ends the work with it, or waits until it can be read. */
  async complete(): Promise<Step> {
    const { missing, status, overdue, done } = WORDING[this.#state.work.kind];
    const now = `The service has completed the ${this.#state.noun}; its ${missing} is being read.`;
    const next = `The ${this.#state.noun} is completed.`;
    // It is the completion that answers what the service said.
    const applied = this.#state.takeAnswered();
    if (this.#position.asks > 0) this.#showAskedAgain({ now, next });
    else await this.#state.goOn({ status: 'processing', now, next });
    const { completePurchase } = proxyActivities<Pick<PurchaseActivities, 'completePurchase'>>({
      ...repeatedlyAsking(this.#policy, DEADLINES_OF_READS),
      summary: `Read the ${missing} and complete the ${this.#state.noun}`,
    });
    const result = await completePurchase({ ...this.#position.attemptRef, applied }).catch((error: unknown) => {
      requireGivenUp(error);
      return undefined;
    });
    // What it did not complete has answered nothing.
    if (result?.kind !== 'completed') this.#state.answer(applied);
    if (result?.kind === 'not_yet') return this.#waitToReadAgain(result, { missing, overdue, next });
    this.#position.unread = undefined;
    if (result !== undefined) this.#position.asks = 0;
    switch (result?.kind) {
      case undefined:
        return {
          step: 'ask_again',
          reason: overdue,
          detail: `Its ${missing} could not be read from the service.`,
          resume: 'deliver',
        };
      case 'unreadable':
        return { step: 'park', reason: 'contract_drift', detail: result.detail };
      case 'parked':
        return { step: 'park', reason: result.reason, detail: result.detail };
      case 'changed':
        await this.#state.reload();
        return this.#position.fromAttempt();
      case 'completed': {
        const { esimId } = result;
        this.#state.show({
          status,
          now: done(esimId),
          next: status === 'completed' ? this.#position.nothingMore : 'Its end, or its cancellation.',
        });
        return { step: 'end', end: { status: 'completed', ...(esimId !== undefined && { esimId }) } };
      }
    }
  }

  /**
   * What waits for an answer stays parked while the service is asked once more: PostgreSQL is told when there is news.
   */
  #showAskedAgain(standing: Pick<Standing, 'now' | 'next' | 'nextStepAt'>): void {
    const { attention, failure } = this.#state;
    this.#state.show({
      ...standing,
      status: attention === undefined ? 'processing' : 'needs_attention',
      attention,
      failure,
    });
  }

  /** In the open: each wait has its name, and after so long a person is told. */
  async #waitToReadAgain(
    { reason, detail, retryAfterMs = 0 }: Extract<CompletionResult, { kind: 'not_yet' }>,
    {
      missing,
      overdue,
      next,
    }: { readonly missing: string; readonly overdue: StepNamed<'ask_again'>['reason']; readonly next: string },
  ): Promise<Step> {
    const { resendDelayMs, resendDelayMaxMs, deliveryDeadlineMs } = this.#policy;
    const now = Date.now();
    const { since, reads } = this.#position.unread ?? { since: now, reads: 0 };
    // A service that asks for an hour must not use up the whole time for the delivery.
    const pause = Math.min(
      resendDelayMaxMs,
      Math.max(retryAfterMs, backoffMs(resendDelayMs, resendDelayMaxMs, reads + 1)),
    );
    if (this.#position.asks > 0 || now + pause - since >= deliveryDeadlineMs) {
      this.#position.unread = undefined;
      const isAnswered = reason === 'not_listed' || reason === 'refund_not_in_wallet' || !isLookUpRetried(reason);
      const why = `Its ${missing} could not be read from the service. ${detail}`;
      if (isAnswered) return { step: 'park', reason: overdue, detail: why };
      return { step: 'ask_again', reason: overdue, detail: why, resume: 'deliver' };
    }
    this.#position.unread = { since, reads: reads + 1 };
    await this.#state.record({
      status: 'processing',
      event: `${this.#state.work.kind}.not_complete_yet`,
      message: `Its ${missing} could not be read yet: ${detail}`,
      nextStepAt: now + pause,
      next: `It is read again; should that not succeed until ${new Date(since + deliveryDeadlineMs).toISOString()}, a person is told. Then: ${next}`,
    });
    const woken = await this.#state.wait(pause, WAIT_NAMES.completion(missing, reason));
    if (woken === 'observation') return this.#position.answerObservations();
    return woken === 'operator' ? this.#position.afterAct({ step: 'deliver' }) : { step: 'deliver' };
  }

  /** The service reports a failure: nothing is bought anew, and nothing fails, without a look at the wallet. */
  async settle(step: StepNamed<'settle'>): Promise<Step> {
    const failure = this.#state.attempt.failure ?? {
      class: step.failure,
      detail: FAILURE_CLASSES[step.failure].meaning,
    };
    // A cancellation spends nothing: that the service refuses it is its end.
    if (this.#state.cancellation !== undefined) return { step: 'fail', failure: failure.class, detail: failure.detail };
    // A wallet that could not be read for long is read once at a time.
    for (let read = this.#position.asks > 0 ? this.#policy.settleReads : 1; ; read += 1) {
      const wakeAt = Date.now() + this.#policy.settleDelayMs;
      const message = `The service reports attempt ${this.#state.attempt.number} as failed; the wallet is checked before anything else.`;
      const next = `The wallet is read (${read} of ${this.#policy.settleReads}).`;
      if (this.#position.asks > 0) this.#showAskedAgain({ now: message, next, nextStepAt: wakeAt });
      else
        await this.#state.record({
          status: 'processing',
          event: 'attempt.settling',
          message,
          failure,
          nextStepAt: wakeAt,
          next,
        });
      // Whatever a person does, the wallet is not read before its time: a debit may show late.
      while (Date.now() < wakeAt) {
        await this.#position.before(step);
        const woken = await this.#state.wait(wakeAt - Date.now(), WAIT_NAMES.wallet(read));
        if (woken === 'observation') return this.#position.answerObservations();
        if (woken === 'operator' && this.#state.attempt.state !== 'failed') return this.#position.fromAttempt();
        if (this.#state.attempt.settled) return this.#position.fromAttempt();
      }
      const { evidence, detail, mayPass } = await this.#readEvidence();
      if (mayPass !== true) this.#position.asks = 0;
      if (costNothing(evidence)) {
        this.#state.attempt = { ...this.#state.attempt, settled: true };
        return { step: 'buy_anew', evidence: detail };
      }
      if (decideSettlement(read, this.#policy) === 'read_again') continue;
      if (mayPass === true)
        return { step: 'ask_again', reason: 'not_answered', detail, failure: failure.class, resume: 'settle' };
      const reason = evidence === 'debited' ? 'debit_without_goods' : 'evidence_unavailable';
      return { step: 'park', reason, detail, failure: failure.class };
    }
  }

  /** A wallet that could not be read proves nothing. */
  async #readEvidence(): Promise<EvidenceResult> {
    try {
      return await this.#reads.readDebitEvidence(this.#position.attemptRef);
    } catch (error) {
      requireGivenUp(error);
      return { evidence: 'unavailable', mayPass: true, detail: 'The wallet could not be read for a long time.' };
    }
  }

  /** Waits, by the rules for further attempts, and opens the next one; when none is left a person is told. */
  async buyAnew(step: StepNamed<'buy_anew'>): Promise<Step> {
    const { evidence } = step;
    const { number, failure = { class: 'supplier_failed', detail: FAILURE_CLASSES.supplier_failed.meaning } } =
      this.#state.attempt;
    this.#state.heldFor = 'supplier_failed';
    const since = Date.now();
    for (;;) {
      await this.#position.before(step);
      const { attempts, firstDelayMs, maxDelayMs } = this.#state.rule;
      if (number >= attempts) return this.#usedUp(number, evidence);
      const wakeAt = since + backoffMs(firstDelayMs, maxDelayMs, number);
      if (wakeAt >= this.#state.deadline)
        return { step: 'fail', failure: 'deadline_passed', detail: `${failure.detail} ${evidence}` };
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
      if (woken === 'observation') return this.#position.answerObservations();
      // A person may have found that it was bought after all.
      if (this.#state.attempt.state !== 'failed') return this.#position.fromAttempt();
      const waitsOn = woken === 'operator' && this.#state.isOnlyRescheduled(retryOverrides, wakeAt);
      // Whoever waits on waits by the changed rule; and there may be no further attempt any more.
      if (!waitsOn && number < this.#state.rule.attempts) return { step: 'open_attempt', number: number + 1, evidence };
    }
  }

  /** Opens the next attempt, unless something bars it or no further one is allowed any more. */
  async openAttempt(step: StepNamed<'open_attempt'>): Promise<Step> {
    const { number, evidence } = step;
    const opened = await database.openNextAttempt({ work: this.#state.work, number });
    if (opened.kind === 'barred') return this.#position.barred(opened.by, step);
    if (opened.kind === 'not_allowed') return this.#usedUp(opened.attempts, evidence);
    this.#position.moves();
    this.#state.attempt = opened.attempt;
    this.#position.holds = 0;
    return this.#position.fromAttempt();
  }

  /** @param most the attempts that are allowed. */
  #usedUp(most: number, evidence: string): Step {
    const { number, failure } = this.#state.attempt;
    const detail =
      most < number
        ? `No further attempt is allowed any more. ${evidence}`
        : `All ${most} attempts failed. ${evidence}`;
    return { step: 'park', reason: 'attempts_used_up', detail, failure: failure?.class ?? 'supplier_failed' };
  }
}
