import type { AttemptView, WorkEnd } from '#activities/work/work-types.ts';
import { endedWithoutEffect, type Witness } from '#domain/purchase/restored-records.ts';
import { PurchaseOutcome } from '#workflows/purchase/purchase-outcome.ts';
import { PurchasePosition } from '#workflows/purchase/purchase-position.ts';
import type { Step } from '#workflows/purchase/purchase-steps.ts';
import { PurchaseSubmission } from '#workflows/purchase/purchase-submission.ts';
import type { RunContext, WorkState } from '#workflows/purchase/work-state.ts';

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
    let step = this.#first();
    while (step.step !== 'end') {
      await this.#position.before(step);
      step = await this.#perform(step);
    }
    return step.end;
  }

  /**
   * Where it goes on: from what a run before was about to do, where nothing has changed since; else from the attempt.
   */
  #first(): Step {
    const {
      snapshot,
      input: { carried },
    } = this.#position.context;
    const { attempt } = snapshot;
    const witness = carried?.witness;
    if (
      carried?.step !== undefined &&
      carried.isActedOn !== true &&
      snapshot.observations.length === 0 &&
      isAsIn(witness, attempt)
    ) {
      return carried.step;
    }
    this.#position.awaitedSince = undefined;
    if (snapshot.attention === 'contradiction')
      return { step: 'park', reason: 'contradiction', detail: 'Parked before this run began.' };
    const ended = witness === undefined ? undefined : endedWithoutEffect(witness);
    const boughtNothing =
      attempt.state === 'prepared' || attempt.state === 'refused' || (attempt.state === 'failed' && attempt.settled);
    if (ended !== undefined && boughtNothing) {
      const detail = `It had ended as ${ended} before PostgreSQL lost its last commits.`;
      return { step: 'fail', failure: witness?.failure ?? attempt.failure?.class ?? 'deadline_passed', detail };
    }
    // Its caller was told that it had ended: nothing is sent or bought for it again without a person.
    if (ended !== undefined && attempt.state !== 'processing' && attempt.state !== 'completed') {
      const detail = `It had ended as ${ended} before PostgreSQL lost its last commits, and its row does not say that nothing was bought.`;
      return { step: 'park', reason: 'records_lost', detail };
    }
    return this.#position.fromAttempt();
  }

  #perform(step: Exclude<Step, { step: 'end' }>): Promise<Step> {
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
        return this.#position.fail(step);
      case 'ask_again':
        return this.#position.askAgain(step);
      case 'prove_absence':
        return this.#submission.proveAbsence(step);
      case 'open_attempt':
        return this.#outcome.openAttempt(step);
      case 'park':
        return this.#position.park(step);
    }
  }
}

function isAsIn(witness: Witness | undefined, { number, state, history }: AttemptView): boolean {
  return witness?.number === number && witness.state === state && witness.sends === history.sends;
}
