import { proxyActivities } from '@temporalio/workflow';
import type { SubscriptionEnd } from '#domain/relay/observation.ts';
import type { WorkEnd } from '#domain/work/lifecycle.ts';
import type { CancellationResult, SubscriptionActivities, SubscriptionLookUp } from '#domain/purchase/results.ts';
import { repeatedRead } from '#workflows/activity-options.ts';
import { requireGivenUp } from '#workflows/work/activity-failures.ts';
import type { Silence, Unanswered } from '#workflows/work/run-state.ts';
import type { LifecycleState, WorkRun } from '#workflows/work/work-run.ts';

/** How long a read of a subscription, or the request to cancel it, may take, in deadlines of one call. */
const DEADLINES_OF_REQUESTS = 3;

export const REPORT_DURING_CASE = 'The service reported more about it; a person must decide about the open case first.';

/** An active subscription in one run: state that is not in PostgreSQL, and what its steps share. */
export class Subscription {
  readonly run: WorkRun;
  /** Reads since the service accepted its cancellation. */
  cancelChecks: number;
  /** Failed reads in a row. */
  silence: Silence | undefined;
  /** When the service last showed it as active after the end of its time, in epoch milliseconds. */
  activeAfterEndAt: number | undefined;
  /** Requests to cancel without an answer, in a row. */
  unanswered: Unanswered | undefined;

  constructor(run: WorkRun) {
    this.run = run;
    const { carried } = run;
    this.cancelChecks = carried?.cancelChecks ?? 0;
    this.silence = carried?.silence;
    this.unanswered = carried?.unanswered;
    run.handOver(() => this.#state());
  }

  #state(): LifecycleState {
    const { silence, unanswered, cancelChecks } = this;
    return {
      holds: 0,
      ...(silence !== undefined && { silence }),
      ...(unanswered !== undefined && { unanswered }),
      ...(cancelChecks > 0 && { cancelChecks }),
    };
  }

  /**
   * Reads it from PostgreSQL again. After a loss of commits PostgreSQL may not know that it was bought: a new run then
   * completes it again.
   */
  async reload(): Promise<void> {
    await this.run.reload();
    if (!this.run.subscription.isActive) await this.run.memory.continueAsNew(() => ({ holds: 0 }));
  }

  /**
   * Takes the queued reports; the next recorded step marks them as handled.
   * @returns true when one contradicts what is known.
   */
  takeReports(): boolean {
    const taken = this.run.observations.takeAll();
    this.run.answer(taken.map(({ inboxId }) => inboxId));
    return taken.some(({ decision }) => decision === 'contradiction');
  }

  /** True while a case is open because the subscription cannot be read at the service. */
  get isEscalated(): boolean {
    return this.run.attention === 'delivery_unavailable';
  }

  /** @param expiresAt epoch milliseconds. */
  isOver(expiresAt: number | undefined): boolean {
    return expiresAt !== undefined && Date.now() >= expiresAt + this.run.policy.expiryGraceMs;
  }

  /** Looks the subscription up at the service. The activity stores the result. */
  async read(): Promise<SubscriptionLookUp> {
    try {
      return await this.#service('Look the subscription up at the service').lookUpSubscription({ work: this.run.work });
    } catch (error) {
      requireGivenUp(error);
      const detail = 'The service has not answered for a long time.';
      return { kind: 'unavailable', failure: { class: 'timeout', detail } };
    }
  }

  /** Requests its cancellation at the service, which may be repeated. */
  async requestCancellation(): Promise<CancellationResult> {
    try {
      const service = this.#service('Ask the service to cancel the subscription');
      return await service.cancelSubscription({ work: this.run.work });
    } catch (error) {
      requireGivenUp(error);
      const detail = 'The cancellation could not be sent to the service.';
      return { kind: 'unavailable', failure: { class: 'timeout', detail } };
    }
  }

  /** @param summary for the Temporal UI. */
  #service(summary: string): SubscriptionActivities {
    return proxyActivities<SubscriptionActivities>({
      ...repeatedRead(this.run.policy, DEADLINES_OF_REQUESTS),
      summary,
    });
  }

  /** Opens a case and waits for a person, or for a report of the service. */
  async openCase(reason: 'cancellation_refused' | 'contradiction', detail: string): Promise<void> {
    const recorded = await this.run.record({
      status: 'needs_attention',
      message: `Waits for a person: ${detail}`,
      attention: { reason, detail },
      next: reason === 'contradiction' ? 'A person decides.' : 'A person decides, or the service reports more.',
    });
    // Otherwise a person has judged it already.
    if (recorded === 'recorded') await this.run.waitForPerson(reason);
  }

  /** Continues to wait with an open case. A report is handled by recording the case again. */
  async keepCase(reason: 'cancellation_refused' | 'contradiction'): Promise<void> {
    if (this.run.owesAnswers) await this.openCase(reason, REPORT_DURING_CASE);
    else await this.run.waitForPerson(reason);
  }

  async end(status: SubscriptionEnd, message: string): Promise<WorkEnd> {
    await this.run.record({ status, message, next: 'Nothing: the VPN subscription has ended.' });
    return { status };
  }
}
