import { proxyActivities } from '@temporalio/workflow';
import type { SubscriptionActivities, SubscriptionView, WorkEnd } from '#activities/work-types.ts';
import type { SubscriptionEnd } from '#domain/observation.ts';
import { backoffMs, type PurchasePolicy } from '#domain/policy.ts';
import { HEARTBEAT_TIMEOUT } from '#workflows/heartbeat.ts';
import { requireGivenUp, type RunContext, type WorkState } from '#workflows/work-state.ts';

/** Follows a subscription that was bought: until it is cancelled, or its time is over. */
export class SubscriptionRun {
  readonly #context: RunContext;
  readonly #state: WorkState;
  readonly #policy: PurchasePolicy;
  readonly #service: SubscriptionActivities;
  #cancelChecks = 0;

  constructor(context: RunContext, state: WorkState) {
    this.#context = context;
    this.#state = state;
    this.#policy = context.input.policy;
    this.#service = proxyActivities<SubscriptionActivities>({
      startToCloseTimeout: 3 * this.#policy.sendDeadlineMs,
      heartbeatTimeout: HEARTBEAT_TIMEOUT,
      scheduleToCloseTimeout: this.#policy.deliveryDeadlineMs,
      retry: { initialInterval: '1s', maximumInterval: '1m' },
    });
  }

  async run(): Promise<WorkEnd> {
    await this.#state.reload();
    for (;;) {
      await this.#state.continueAsNewIfLong(0);
      const contradicts = this.#answerObservations();
      const view = this.#state.subscription;
      const isContradicted = this.#state.attention === 'contradiction';
      // Nothing that the service says moves anything before a person has judged: it is noted, with the relay's facts.
      if (isContradicted && this.#state.owesAnswers) await this.#park('contradiction', 'The service said more about it; what contradicts itself is to be judged first.');
      else if (isContradicted) await this.#state.waitForWord();
      else if (contradicts) await this.#park('contradiction', 'The service said two things about it that cannot both be true.');
      else if (view.endedAs !== undefined) return this.#end(view.endedAs, endingOf(view.endedAs));
      else if (view.cancelRequested) await this.#cancel(view);
      else if (await this.#live(view)) return this.#end('expired', 'Its time is over, and the service says nothing else.');
      await this.#state.reload();
    }
  }

  /** Waits for the end of its time, for a word of the service, or for its customer. @returns true when its time is over. */
  async #live({ expiresAt }: SubscriptionView): Promise<boolean> {
    const now = 'The VPN subscription is active.';
    const until = expiresAt === undefined ? 'its end is not known' : `it ends at ${new Date(expiresAt).toISOString()}`;
    const next = `Its end, or its cancellation (${until}).`;
    // What the service said is answered now, not with the end of the subscription in a year.
    if (this.#state.isHeldOrParked || this.#state.owesAnswers) await this.#state.record({ status: 'active', message: now, next });
    else this.#state.show({ status: 'active', now, next, nextStepAt: expiresAt });
    const wait = expiresAt === undefined ? this.#policy.unknownExpiryCheckMs : expiresAt + this.#policy.expiryGraceMs - Date.now();
    if ((await this.#state.wait(wait, 'Active until its time is over')) !== 'time') return false;
    // It may have been renewed, or have ended without our having been told.
    await this.#ask();
    await this.#state.reload();
    const after = this.#state.subscription;
    if (after.endedAs !== undefined || expiresAt === undefined) return false;
    return after.expiresAt === undefined || after.expiresAt <= expiresAt;
  }

  async #cancel({ cancelAccepted }: SubscriptionView): Promise<void> {
    const next = 'The service confirms that it is cancelled.';
    if (!this.#state.isCancelling) {
      await this.#state.record({ status: 'cancelling', message: 'The customer has ended it; the service is asked to cancel.', next });
    }
    if (!cancelAccepted) {
      await this.#askToCancel();
      return;
    }
    const now = 'The service has accepted the cancellation.';
    await this.#state.goOn({ status: 'cancelling', now, next });
    this.#cancelChecks += 1;
    const delay = backoffMs(this.#policy.cancelCheckMs, this.#policy.cancelCheckMaxMs, this.#cancelChecks);
    if ((await this.#state.wait(delay, 'Until the service confirms the cancellation')) === 'time') await this.#ask();
  }

  async #askToCancel(): Promise<void> {
    try {
      const result = await this.#service.cancelSubscription({ work: this.#state.work });
      if (result.kind === 'refused') await this.#park('cancellation_refused', result.detail);
    } catch (error) {
      requireGivenUp(error);
      await this.#park('cancellation_refused', 'The service could not be asked to cancel for a long time.');
    }
  }

  async #park(reason: 'cancellation_refused' | 'contradiction', detail: string): Promise<void> {
    const recorded = await this.#state.record({
      status: 'needs_attention',
      message: `Waits for a person: ${detail}`,
      attention: { reason, detail },
      next: reason === 'contradiction' ? 'A person decides.' : 'A person decides, or the service says more.',
    });
    // A person was quicker than we: there is nothing to wait for.
    if (recorded === 'recorded') await this.#state.waitForWord();
  }

  /** A service that cannot be asked, or not at present, says nothing new. */
  async #ask(): Promise<void> {
    try {
      await this.#service.askSubscription({ work: this.#state.work });
    } catch (error) {
      requireGivenUp(error);
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

function endingOf(end: SubscriptionEnd): string {
  return end === 'cancelled' ? 'The service has cancelled it.' : 'Its time is over, as the service says.';
}
