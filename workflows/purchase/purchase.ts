import { decideAfterSend, type NextStep, type SendOutcome } from '#domain/purchase/purchase-decision.ts';
import { endedWithoutEffect, type Witness } from '#domain/purchase/recovery.ts';
import type { AttemptRef, AttemptSnapshot } from '#domain/purchase/results.ts';
import type { ObservedOutcome } from '#domain/relay/observation.ts';
import { CONTRADICTION, REPORT_AFTER_CONTRADICTION, type Step } from '#workflows/purchase/steps.ts';
import type { WaitName } from '#workflows/wait-names.ts';
import type { CarriedState, Stall } from '#workflows/work/run-state.ts';
import type { LifecycleState, WorkRun } from '#workflows/work/work-run.ts';

export interface PurchaseRules {
  readonly afterReport: (outcome: ObservedOutcome, run: WorkRun) => Step;
  readonly inProgress: (run: WorkRun) => { readonly now: string; readonly next: string };
  readonly failed: string;
}

/** The counters that the steps share. Everything else is in PostgreSQL and read through `run`. */
export class Purchase {
  readonly run: WorkRun;
  readonly rules: PurchaseRules;
  /** Holds in a row. */
  holds: number;
  /** Look-ups in a row without an answer. */
  unansweredReads: number;
  /** Since the service last answered a send of the attempt. */
  proofs: number;
  /** `since` in epoch milliseconds. */
  unread: CarriedState['unread'];
  awaited: CarriedState['awaited'];
  /** Epoch milliseconds. A read of the row does not restart the wait. */
  awaitedSince: number | undefined;
  stall: Stall | undefined;
  unsettledBefore: number | undefined;
  #current: { readonly step: Step; readonly holds: number } | undefined;

  constructor(run: WorkRun, rules: PurchaseRules) {
    this.run = run;
    this.rules = rules;
    const { carried } = run;
    this.holds = carried?.holds ?? 0;
    this.unansweredReads = carried?.unansweredReads ?? 0;
    this.proofs = carried?.proofs ?? 0;
    this.unread = carried?.unread;
    this.awaited = carried?.awaited;
    this.awaitedSince = carried?.awaitedSince;
    this.stall = carried?.stall;
    run.handOver(() => this.#state());
  }

  #state(): LifecycleState {
    const { unansweredReads, proofs, unread, awaited, awaitedSince, stall } = this;
    return {
      holds: this.#current?.holds ?? this.holds,
      ...(unansweredReads > 0 && { unansweredReads }),
      ...(proofs > 0 && { proofs }),
      ...(unread !== undefined && { unread }),
      ...(awaited !== undefined && { awaited }),
      ...(awaitedSince !== undefined && { awaitedSince }),
      ...(stall !== undefined && { stall }),
      ...(this.#current !== undefined && { step: this.#current.step }),
    };
  }

  /** A following run would begin with this step. */
  begin(step: Step, holds = this.holds): void {
    this.#current = { step, holds };
  }

  async continueAsNewIfLong(step: Step, holds = this.holds): Promise<void> {
    this.begin(step, holds);
    await this.run.continueAsNewIfLong();
  }

  get attemptRef(): AttemptRef {
    return { work: this.run.work, attemptId: this.run.attempt.id };
  }

  /** The step of the last run if nothing has changed, else by the state of the attempt. */
  firstStep(): Step {
    const { carried } = this.run;
    const { attempt, attention, observations } = this.run.snapshot;
    const witness = carried?.witness;
    const isUnchanged = carried?.hasNewAction !== true && observations.length === 0 && isSameAttempt(witness, attempt);
    if (carried?.step !== undefined && isUnchanged) return carried.step;
    this.awaitedSince = undefined;
    if (attention === 'contradiction')
      return { step: 'open_case', reason: 'contradiction', detail: 'The case was already open when this run began.' };
    return (witness === undefined ? undefined : stepAfterLostEnd(witness, attempt)) ?? this.nextStep();
  }

  nextStep(): Step {
    const { state, failure, named, settled } = this.run.attempt;
    const lastFailure = failure?.class ?? 'worker_lost';
    switch (state) {
      case 'prepared':
        return { step: 'send' };
      case 'sending':
        return this.stepAfterSend({ kind: 'failure', failure: 'worker_lost' });
      case 'unknown':
        // An operator has given its service id: it is looked up and never resent.
        if (named) return { step: 'look_up', failure: lastFailure };
        return this.stepAfterSend({ kind: 'failure', failure: lastFailure });
      case 'refused':
        return this.stepAfterSend({ kind: 'failure', failure: lastFailure });
      case 'processing':
      case 'completed':
        return this.rules.afterReport(state, this.run);
      case 'failed':
        return settled
          ? { step: 'new_attempt', evidence: "The wallet, or an operator's verdict, shows that it cost nothing." }
          : this.rules.afterReport(state, this.run);
    }
  }

  stepAfterSend(outcome: SendOutcome): NextStep {
    const history = { ...this.run.attempt.history, holds: this.holds };
    return decideAfterSend(outcome, history, this.run.policy, Date.now(), this.run.retryOverrides);
  }

  /** A change of the attempt takes precedence over `otherwise`. */
  stepAfterAction(otherwise: Step): Step {
    const { state, named } = this.run.attempt;
    const isChanged = state === 'processing' || state === 'completed' || state === 'failed' || named;
    return isChanged ? this.nextStep() : otherwise;
  }

  /** A report or an action may lead elsewhere than to `then`. */
  async waitThen(ms: number, summary: WaitName, then: Step): Promise<Step> {
    const woken = await this.run.wait(ms, summary);
    if (woken === 'observation') return this.takeReports();
    return woken === 'operator' ? this.stepAfterAction(then) : then;
  }

  /** The relay has judged the reports and stored their content. */
  async takeReports(): Promise<Step> {
    const { run } = this;
    const taken = run.observations.takeAll();
    run.answer(taken.map(({ inboxId }) => inboxId));
    // Until a person has judged a contradiction, no report moves the work; it is only recorded.
    if (run.attention === 'contradiction') return REPORT_AFTER_CONTRADICTION;
    if (taken.some(({ decision }) => decision === 'contradiction')) return CONTRADICTION;
    await run.reload();
    if (run.attempt.state === 'processing') {
      const { now: message, next } = this.rules.inProgress(run);
      await run.record({ status: 'processing', message, next });
    }
    return this.nextStep();
  }
}

/**
 * PostgreSQL has lost the end of the work. Its caller knows that it ended without effect, so nothing is sent or bought
 * again without a person.
 */
function stepAfterLostEnd(witness: Witness, { state, settled, failure }: AttemptSnapshot): Step | undefined {
  const ended = endedWithoutEffect(witness);
  if (ended === undefined) return undefined;
  const lost = `It had ended as ${ended} before PostgreSQL lost its last commits`;
  if (state === 'prepared' || state === 'refused' || (state === 'failed' && settled))
    return {
      step: 'fail',
      failure: witness.failure ?? failure?.class ?? 'deadline_passed',
      detail: `${lost}.`,
      ...(witness.endedBy !== undefined && { endedBy: witness.endedBy }),
    };
  if (state === 'processing' || state === 'completed') return undefined;
  const detail = `${lost}, and its stored row does not prove that nothing was bought.`;
  return { step: 'open_case', reason: 'records_lost', detail };
}

function isSameAttempt(witness: Witness | undefined, { number, state, history }: AttemptSnapshot): boolean {
  return witness?.number === number && witness.state === state && witness.sends === history.sends;
}
