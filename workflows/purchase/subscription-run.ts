import { proxyActivities } from '@temporalio/workflow';
import type {
  CancellationResult,
  SubscriptionActivities,
  SubscriptionAnswer,
  SubscriptionView,
  WorkEnd,
} from '#activities/work/work-types.ts';
import { backoffMs } from '#domain/policy/backoff.ts';
import type { PurchasePolicy } from '#domain/policy/purchase-policy.ts';
import type { SubscriptionEnd } from '#domain/relay/observation.ts';
import type { FailureDetail } from '#domain/work/failure.ts';
import { requireGivenUp } from '#workflows/activity-failures.ts';
import { repeatedlyAsking } from '#workflows/activity-options.ts';
import type { Carried, Silence, Unanswered } from '#workflows/purchase/carried.ts';
import { endingOf, nextInLife, silenceOf } from '#workflows/purchase/subscription-texts.ts';
import { WAIT_NAMES } from '#workflows/purchase/wait-names.ts';
import { CONTRADICTED, type RunContext, type WorkState } from '#workflows/purchase/work-state.ts';

/** How long a question about a subscription, or the request to cancel it, may take, in deadlines of one call. */
const DEADLINES_OF_REQUESTS = 3;

const ONE_MORE_WORD = 'The service said more about it; what is open is to be judged first.';

/** Follows a subscription that was bought: until it is cancelled, or its time is over. */
export class SubscriptionRun {
  readonly #context: RunContext;
  readonly #state: WorkState;
  readonly #policy: PurchasePolicy;
  readonly #service: SubscriptionActivities;
  #cancelChecks: number;
  #silence: Silence | undefined;
  #unanswered: Unanswered | undefined;

  constructor(context: RunContext, state: WorkState) {
    this.#context = context;
    this.#state = state;
    this.#policy = context.input.policy;
    const { carried } = context.input;
    this.#cancelChecks = carried?.cancelChecks ?? 0;
    this.#silence = carried?.silence;
    this.#unanswered = carried?.unanswered;
    state.onChangeOver(() => this.#toCarry());
    this.#service = proxyActivities<SubscriptionActivities>(repeatedlyAsking(this.#policy, DEADLINES_OF_REQUESTS));
  }

  /** How long the service has been silent, and how often it was asked, is known to this run alone. */
  #toCarry(): Omit<Carried, 'isActedOn'> {
    return {
      holds: 0,
      ...(this.#silence !== undefined && { silence: this.#silence }),
      ...(this.#unanswered !== undefined && { unanswered: this.#unanswered }),
      ...(this.#cancelChecks > 0 && { cancelChecks: this.#cancelChecks }),
    };
  }

  async run(): Promise<WorkEnd> {
    await this.#reload();
    for (;;) {
      await this.#state.changeOverIfLong();
      const end = await this.#step();
      if (end !== undefined) return end;
      await this.#reload();
    }
  }

  /**
   * Reads it anew. What PostgreSQL, which was set back, does not know as bought any more is completed anew, in a run
   * that begins so.
   */
  async #reload(): Promise<void> {
    await this.#state.reload();
    if (!this.#state.subscription.isActive) await this.#context.memory.goOnInNewRun(() => ({ holds: 0 }));
  }

  /** Does what is to be done next, and waits for what follows. @returns its end, once it has come. */
  async #step(): Promise<WorkEnd | undefined> {
    const contradicts = this.#answerObservations();
    const { subscription: view, attention } = this.#state;
    // Nothing that the service says moves anything before a person has judged: it is noted, with the relay's facts.
    if (attention === 'contradiction') await this.#stayParked(attention);
    else if (contradicts) await this.#park('contradiction', CONTRADICTED);
    else if (view.endedAs !== undefined) return this.#end(view.endedAs, endingOf(view.endedAs));
    // A service that has refused is asked once more only when a person says so.
    else if (attention === 'cancellation_refused') await this.#stayParked(attention);
    else if (view.cancelRequested) return this.#cancel(view);
    else return this.#live(view);
    return undefined;
  }

  /** Waits for the end of its time, for a word of the service, or for its customer. */
  async #live(view: SubscriptionView): Promise<WorkEnd | undefined> {
    const { expiresAt } = view;
    if (this.#silence?.isTold === true && !this.#isParkedForSilence) {
      this.#silence = undefined;
      // There is nothing to correct, a person says: what is stored counts.
      if (this.#isOver(expiresAt))
        return this.#end(
          'expired',
          'Its time is over; the service says nothing of it, and a person has dismissed that.',
        );
    }
    const askAt = this.#nextQuestionAt(expiresAt);
    await this.#showLife(expiresAt);
    const summary =
      this.#silence === undefined ? WAIT_NAMES.endOfTime() : WAIT_NAMES.standing(this.#silence.failure.class);
    const woken = await this.#state.wait(askAt - Date.now(), summary);
    if (woken === 'operator' && this.#silence?.isTold === true)
      this.#silence = { ...this.#silence, askAgainAt: Date.now() };
    return woken === 'time' ? this.#askForEnd() : undefined;
  }

  /** It may have been renewed, or have ended without our having been told. */
  async #askForEnd(): Promise<WorkEnd | undefined> {
    const answer = await this.#ask();
    await this.#reload();
    const after = this.#state.subscription;
    if (after.endedAs !== undefined) return undefined;
    if (answer.kind === 'unavailable') {
      const silence = this.#noteSilence(answer);
      if (silence.isTold) await this.#waitForPerson(after.expiresAt, silence);
      return undefined;
    }
    this.#silence = undefined;
    if (this.#isOver(after.expiresAt)) {
      return this.#end(
        'expired',
        answer.kind === 'told'
          ? 'Its time is over, and the service says nothing else.'
          : `Its time is over. ${answer.detail}`,
      );
    }
    if (this.#isParkedForSilence) {
      await this.#state.record({
        status: 'active',
        message: 'The service says again how it stands.',
        next: nextInLife(after.expiresAt),
      });
    }
    return undefined;
  }

  /**
   * A read that failed says nothing about the subscription: only a growing wait, or a person, follows it, never an end.
   */
  #noteSilence({ failure, retryAfterMs = 0 }: Extract<SubscriptionAnswer, { kind: 'unavailable' }>): Silence {
    const { cancelCheckMs, cancelCheckMaxMs, silentDeadlineMs, unknownExpiryCheckMs } = this.#policy;
    const now = Date.now();
    const { since, questions } = this.#silence ?? { since: now, questions: 0 };
    const isTold = this.#isParkedForSilence || now - since >= silentDeadlineMs;
    const pause = Math.max(
      backoffMs(cancelCheckMs, cancelCheckMaxMs, questions + 1),
      Math.min(retryAfterMs, cancelCheckMaxMs),
    );
    const askAgainAt = now + (isTold ? unknownExpiryCheckMs : pause);
    this.#silence = { since, questions: questions + 1, failure, askAgainAt, isTold };
    return this.#silence;
  }

  #nextQuestionAt(expiresAt: number | undefined): number {
    if (this.#silence !== undefined) return this.#silence.askAgainAt;
    // A run that begins with it parked asks at once: the service may answer by now.
    if (this.#isParkedForSilence) return Date.now();
    return expiresAt === undefined
      ? Date.now() + this.#policy.unknownExpiryCheckMs
      : expiresAt + this.#policy.expiryGraceMs;
  }

  async #showLife(expiresAt: number | undefined): Promise<void> {
    const silence = this.#silence;
    if (silence?.isTold === true || this.#isParkedForSilence) {
      await this.#waitForPerson(expiresAt, silence);
      return;
    }
    if (silence !== undefined) {
      const until = new Date(silence.since + this.#policy.silentDeadlineMs).toISOString();
      await this.#state.record({
        status: 'active',
        event: 'vpn_subscription.asked_in_vain',
        message: `${silenceOf(expiresAt)} ${silence.failure.detail}`,
        failure: silence.failure,
        nextStepAt: silence.askAgainAt,
        next: `The service is asked again; should it say nothing until ${until}, a person is told.`,
      });
      return;
    }
    const now = 'The VPN subscription is active.';
    const next = nextInLife(expiresAt);
    // What the service said is answered now, not with the end of the subscription in a year.
    const isNews = this.#state.isHeldOrParked || this.#state.failure !== undefined || this.#state.owesAnswers;
    if (isNews) await this.#state.record({ status: 'active', message: now, next });
    this.#state.show({ status: 'active', now, next, nextStepAt: expiresAt });
  }

  /**
   * Parks what the service has said nothing of for too long, or shows that it is parked. It is still asked from time to
   * time.
   */
  async #waitForPerson(expiresAt: number | undefined, silence: Silence | undefined): Promise<void> {
    // A run that begins anew has shown what it found, and asks at once.
    if (silence === undefined && !this.#state.owesAnswers) return;
    const verdict = this.#isOver(expiresAt) ? '`dismissed` lets it end as expired.' : '`dismissed` lets it go on.';
    const detail = `${silenceOf(expiresAt)} ${silence?.failure.detail ?? ONE_MORE_WORD} \`retry\` asks at once; ${verdict}`;
    const message = `Waits for a person: ${detail}`;
    const next = 'A person decides, or the service says more; it is asked once a day.';
    const status = 'needs_attention';
    const reason = 'delivery_unavailable';
    if (this.#isParkedForSilence && !this.#state.owesAnswers) {
      this.#state.show({ status, now: message, next, attention: reason, failure: silence?.failure.class });
    } else {
      const failure = silence === undefined ? {} : { failure: silence.failure };
      await this.#state.record({ status, message, attention: { reason, detail }, next, ...failure });
    }
  }

  /** True while PostgreSQL has it as waiting for a person because the service does not say how it stands. */
  get #isParkedForSilence(): boolean {
    return this.#state.attention === 'delivery_unavailable';
  }

  #isOver(expiresAt: number | undefined): boolean {
    return expiresAt !== undefined && Date.now() >= expiresAt + this.#policy.expiryGraceMs;
  }

  /** Sees a cancellation through: asked for, accepted, confirmed; or over with the time of the subscription. */
  async #cancel({ cancelAcceptedAt, expiresAt }: SubscriptionView): Promise<WorkEnd | undefined> {
    this.#silence = undefined;
    const over =
      expiresAt === undefined
        ? ''
        : ` Should it not, it has ended with its time, at ${new Date(expiresAt).toISOString()}.`;
    const next = `The service confirms that it is cancelled.${over}`;
    if (!this.#state.isCancelling && this.#state.attention !== 'not_answered') {
      await this.#state.record({
        status: 'cancelling',
        message: 'The customer has ended it; the service is asked to cancel.',
        next,
      });
    }
    if (cancelAcceptedAt === undefined) {
      await this.#askToCancel();
      return undefined;
    }
    await this.#state.goOn({ status: 'cancelling', now: 'The service has accepted the cancellation.', next });
    // A cancellation that was accepted this late may still be confirmed.
    const { expiryGraceMs, silentDeadlineMs } = this.#policy;
    const endsAt =
      expiresAt === undefined
        ? cancelAcceptedAt + silentDeadlineMs
        : Math.max(expiresAt, cancelAcceptedAt) + expiryGraceMs;
    this.#cancelChecks += 1;
    const delay = backoffMs(this.#policy.cancelCheckMs, this.#policy.cancelCheckMaxMs, this.#cancelChecks);
    const woken = await this.#state.wait(Math.min(delay, endsAt - Date.now()), WAIT_NAMES.cancelled());
    if (woken !== 'time') return undefined;
    const answer = await this.#ask();
    return Date.now() < endsAt ? undefined : this.#endUnconfirmed(answer, expiresAt, cancelAcceptedAt);
  }

  /** Nobody has confirmed a cancellation that the service accepted, and the time for that is over. */
  async #endUnconfirmed(
    answer: SubscriptionAnswer,
    expiresAt: number | undefined,
    acceptedAt: number,
  ): Promise<WorkEnd | undefined> {
    await this.#reload();
    const after = this.#state.subscription;
    if (
      after.endedAs !== undefined ||
      after.expiresAt !== expiresAt ||
      !after.cancelRequested ||
      !this.#context.observations.isEmpty
    )
      return undefined;
    if (expiresAt !== undefined)
      return this.#end('cancelled', 'The service accepted its cancellation, and its time is over.');
    const says =
      answer.kind === 'told'
        ? 'It says that the subscription lives.'
        : answer.kind === 'cannot_tell'
          ? answer.detail
          : answer.failure.detail;
    const accepted = `The service accepted the cancellation at ${new Date(acceptedAt).toISOString()} and has not confirmed it since.`;
    await this.#park('cancellation_refused', `${accepted} ${says}`);
    return undefined;
  }

  async #askToCancel(): Promise<void> {
    this.#cancelChecks = 0;
    const result = await this.#requestCancellation();
    if (result.kind === 'unavailable') return this.#waitToAskAgain(result);
    this.#unanswered = undefined;
    if (result.kind === 'refused') await this.#park('cancellation_refused', result.detail);
  }

  async #waitToAskAgain({
    failure,
    retryAfterMs = 0,
  }: Extract<CancellationResult, { kind: 'unavailable' }>): Promise<void> {
    const { resendDelayMs, resendDelayMaxMs, cancelCheckMaxMs, deliveryDeadlineMs } = this.#policy;
    const now = Date.now();
    const { since, requests } = this.#unanswered ?? { since: now, requests: 0 };
    this.#unanswered = { since, requests: requests + 1 };
    const pause = Math.max(
      backoffMs(resendDelayMs, resendDelayMaxMs, requests + 1),
      Math.min(retryAfterMs, cancelCheckMaxMs),
    );
    if (now + pause - since >= deliveryDeadlineMs) return this.#waitLongToAskAgain(failure, requests);
    await this.#state.record({
      status: 'cancelling',
      event: 'vpn_subscription.cancel_unanswered',
      message: `The service has not taken the cancellation: ${failure.detail}`,
      failure,
      nextStepAt: now + pause,
      next: `The service is asked again; should it not take it until ${new Date(since + deliveryDeadlineMs).toISOString()}, a person is told.`,
    });
    await this.#state.wait(pause, WAIT_NAMES.cancelRequest(failure.class));
  }

  /** A case says so, and the service is asked again by itself. */
  async #waitLongToAskAgain(failure: FailureDetail, requests: number): Promise<void> {
    const { askAgainMs, askAgainMaxMs } = this.#policy;
    const pause = backoffMs(askAgainMs, askAgainMaxMs, requests);
    const wakeAt = Date.now() + pause;
    const detail = `The service could not be asked to cancel for a long time. ${failure.detail} It is asked again at ${new Date(wakeAt).toISOString()}.`;
    await this.#state.record({
      status: 'needs_attention',
      message: detail,
      attention: { reason: 'not_answered', detail },
      failure,
      nextStepAt: wakeAt,
      next: 'The service is asked again by itself; a person may ask at once with `retry`.',
    });
    await this.#state.wait(pause, WAIT_NAMES.notAnswered('not_answered'));
  }

  /** A request that was given up says nothing. */
  async #requestCancellation(): Promise<CancellationResult> {
    try {
      return await this.#service.cancelSubscription({ work: this.#state.work });
    } catch (error) {
      requireGivenUp(error);
      return {
        kind: 'unavailable',
        failure: { class: 'timeout', detail: 'The service could not be asked to cancel.' },
      };
    }
  }

  /** Parked it was, and parked it stays until a person has judged; what the service says meanwhile is answered. */
  async #stayParked(reason: 'cancellation_refused' | 'contradiction'): Promise<void> {
    if (this.#state.owesAnswers) await this.#park(reason, ONE_MORE_WORD);
    else await this.#state.waitForWord(reason);
  }

  async #park(reason: 'cancellation_refused' | 'contradiction', detail: string): Promise<void> {
    const recorded = await this.#state.record({
      status: 'needs_attention',
      message: `Waits for a person: ${detail}`,
      attention: { reason, detail },
      next: reason === 'contradiction' ? 'A person decides.' : 'A person decides, or the service says more.',
    });
    // A person was quicker than we: there is nothing to wait for.
    if (recorded === 'recorded') await this.#state.waitForWord(reason);
  }

  /** A question that was given up says nothing. */
  async #ask(): Promise<SubscriptionAnswer> {
    try {
      return await this.#service.askSubscription({ work: this.#state.work });
    } catch (error) {
      requireGivenUp(error);
      return {
        kind: 'unavailable',
        failure: { class: 'timeout', detail: 'The service could not be asked for a long time.' },
      };
    }
  }

  async #end(status: SubscriptionEnd, message: string): Promise<WorkEnd> {
    await this.#state.record({ status, message, next: 'Nothing: the VPN subscription has ended.' });
    return { status };
  }

  /**
   * The relay has judged and stored what the service said; the next step that is recorded answers it.
   *
   * @returns true when something contradicts what is known.
   */
  #answerObservations(): boolean {
    const taken = this.#context.observations.takeAll();
    this.#state.answer(taken.map(({ inboxId }) => inboxId));
    return taken.some(({ decision }) => decision === 'contradiction');
  }
}
