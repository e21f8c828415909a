import type { WorkEnd } from '#activities/work-types.ts';
import { FAILURE_CLASSES } from '#domain/failure.ts';
import { PurchaseOutcome } from '#workflows/purchase-outcome.ts';
import { PurchasePosition } from '#workflows/purchase-position.ts';
import type { Step } from '#workflows/purchase-steps.ts';
import { PurchaseSubmission } from '#workflows/purchase-submission.ts';
import type { RunContext, WorkState } from '#workflows/work-state.ts';

/** Carries one purchase from where PostgreSQL says it stands to its end. */
export class PurchaseRun {
  readonly #position: PurchasePosition;
  readonly #submission: PurchaseSubmission;
  readonly #outcome: PurchaseOutcome;

  constructor(context: RunContext, state: WorkState) {
    this.#position = new PurchasePosition(context, state);
    this.#submission = new PurchaseSubmission(this.#position);
    this.#outcome = new PurchaseOutcome(this.#position);
  }

  async run(): Promise<WorkEnd> {
    const { snapshot } = this.#position.context;
    let step: Step =
      snapshot.attention === 'contradiction'
        ? { step: 'park', reason: 'contradiction', detail: 'Parked before this run began.' }
        : this.#position.fromAttempt();
    while (step.step !== 'end') step = await this.#perform(step);
    return step.end;
  }

  #perform(step: Exclude<Step, { step: 'end' }>): Promise<Step> {
    const { state } = this.#position;
    switch (step.step) {
      case 'send':
        return this.#submission.send();
      case 'hold':
        return this.#submission.hold(step);
      case 'resend':
        return this.#submission.resend(step);
      case 'wait_for_lease':
        return this.#submission.waitForLease(step);
      case 'look_up':
        return this.#submission.lookUp(step);
      case 'await_service':
        return this.#outcome.awaitService();
      case 'deliver':
        return this.#outcome.complete();
      case 'settle':
        return this.#outcome.settle(step);
      case 'buy_anew':
        return this.#outcome.buyAnew(step);
      case 'fail':
        return this.#position.fail(step.failure, state.attempt.failure?.detail ?? FAILURE_CLASSES[step.failure].meaning);
      case 'park':
        return this.#position.park(step);
    }
  }
}
