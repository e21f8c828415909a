import { proxyActivities } from '@temporalio/workflow';
import type { CancellationResult, SubscriptionActivities, SubscriptionLookUp } from '#domain/purchase/results.ts';
import type { SubscriptionEnd } from '#domain/relay/observation.ts';
import type { WorkEnd } from '#domain/work/lifecycle.ts';
import { repeatedRead, requireGivenUp } from '#workflows/activity-options.ts';
import type { Silence, Unanswered } from '#workflows/work/run-state.ts';
import type { LifecycleState, WorkRun } from '#workflows/work/work-run.ts';

const DEADLINES_OF_REQUESTS = 3;

export const REPORT_DURING_CASE = 'The service reported more about it; a person must decide about the open case first.';

/** State that is not in PostgreSQL. */
export class Subscription {
  readonly run: WorkRun;
  cancelChecks: number;
  silence: Silence | undefined;
  /** Epoch milliseconds. */
  activeAfterEndAt: number | undefined;
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

  /** After a loss of commits PostgreSQL may not know that it was bought: a new run then completes it again. */
  async reload(): Promise<void> {
    await this.run.reload();
    if (!this.run.subscription.isActive) await this.run.memory.continueAsNew(() => ({ holds: 0 }));
  }

  /** The next recorded step marks them as handled. @returns true when one contradicts what is known. */
  takeReports(): boolean {
    const taken = this.run.observations.takeAll();
    this.run.answer(taken.map(({ inboxId }) => inboxId));
    return taken.some(({ decision }) => decision === 'contradiction');
  }

  get isEscalated(): boolean {
    return this.run.attention === 'delivery_unavailable';
  }

  /** `expiresAt` in epoch milliseconds. */
  isOver(expiresAt: number | undefined): boolean {
    return expiresAt !== undefined && Date.now() >= expiresAt + this.run.policy.expiryGraceMs;
  }

  async read(): Promise<SubscriptionLookUp> {
    try {
      return await this.#service('Look the subscription up at the service').lookUpSubscription({ work: this.run.work });
    } catch (error) {
      requireGivenUp(error);
      const detail = 'The service has not answered for a long time.';
      return { kind: 'unavailable', failure: { class: 'timeout', detail } };
    }
  }

  /** It may be repeated. */
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

  #service(summary: string): SubscriptionActivities {
    return proxyActivities<SubscriptionActivities>({
      ...repeatedRead(this.run.policy, DEADLINES_OF_REQUESTS),
      summary,
    });
  }

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

  /** Recording the case again handles a report. */
  async keepCase(reason: 'cancellation_refused' | 'contradiction'): Promise<void> {
    if (this.run.owesAnswers) await this.openCase(reason, REPORT_DURING_CASE);
    else await this.run.waitForPerson(reason);
  }

  async end(status: SubscriptionEnd, message: string): Promise<WorkEnd> {
    await this.run.record({ status, message, next: 'Nothing: the VPN subscription has ended.' });
    return { status };
  }
}

export function endingOf(end: SubscriptionEnd): string {
  return end === 'cancelled' ? 'The service has cancelled it.' : 'Its time is over, as the service reports.';
}

/** `expiresAt` in epoch milliseconds. */
export function nextForActive(expiresAt: number | undefined): string {
  const until = expiresAt === undefined ? 'its end is not known' : `it ends at ${new Date(expiresAt).toISOString()}`;
  return `Its end, or its cancellation (${until}).`;
}

/** `expiresAt` in epoch milliseconds. */
export function unreadableText(expiresAt: number | undefined): string {
  const known =
    expiresAt === undefined ? 'Its end is not known' : `Its time ended at ${new Date(expiresAt).toISOString()}`;
  return `${known}, and the service does not report its status.`;
}
