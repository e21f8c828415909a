import { decideAfterSend, type NextStep, type SendOutcome } from '#domain/purchase/purchase-decision.ts';
import { endedWithoutEffect, type Witness } from '#domain/purchase/recovery.ts';
import type { AttemptRef, AttemptSnapshot, AwaitedEvidence } from '#domain/purchase/results.ts';
import type { ObservedOutcome } from '#domain/relay/observation.ts';
import type { AttentionReason } from '#domain/work/attention.ts';
import { FAILURE_CLASSES, type FailureClass, type FailureDetail } from '#domain/work/failure.ts';
import type { WorkEnd, WorkStatus } from '#domain/work/lifecycle.ts';
import type { Run } from '#workflows/run/run.ts';
import type { WaitName } from '#workflows/wait-names.ts';

export type Step =
  | NextStep
  /** The attempt may have bought: the list and the wallet may prove that it did not. */
  | { readonly step: 'prove_absence'; readonly failure: FailureClass; readonly detail: string }
  /** Nothing proves yet what the attempt cost. */
  | ({
      readonly step: 'await_evidence';
      readonly failure: FailureClass;
      readonly resume: 'settle' | 'prove_absence';
    } & AwaitedEvidence)
  /** The attempt failed and cost nothing. */
  | { readonly step: 'new_attempt'; readonly evidence: string }
  | { readonly step: 'open_attempt'; readonly number: number; readonly evidence: string }
  /** A case opens, and `resume` follows after a wait. */
  | {
      readonly step: 'retry_later';
      readonly reason:
        | 'service_not_answering'
        | 'delivery_unavailable'
        | 'refund_missing'
        | 'evidence_unavailable'
        | 'contract_drift'
        | 'outcome_unknown';
      readonly detail: string;
      readonly failure?: FailureClass;
      readonly resume: 'look_up' | 'settle' | 'deliver' | 'prove_absence' | 'await_service';
    }
  | {
      readonly step: 'open_case';
      readonly reason: AttentionReason;
      readonly detail: string;
      readonly failure?: FailureClass;
      /** It provably cost nothing, so it fails at its deadline without a decision. */
      readonly endsAtDeadline?: true;
      /** The run before has recorded the case. */
      readonly isRecorded?: true;
    }
  | { readonly step: 'end'; readonly end: WorkEnd };

export type StepNamed<Name extends Step['step']> = Extract<Step, { step: Name }>;

export const CONTRADICTED = 'The service reported two things about it that cannot both be true.';

export const CONTRADICTION: Step = { step: 'open_case', reason: 'contradiction', detail: CONTRADICTED };

const REPORT_AFTER_CONTRADICTION: Step = {
  ...CONTRADICTION,
  detail: 'The service sent a further report. An operator must resolve the contradiction first.',
};

/** What differs between the kinds of work. */
export interface PurchaseRules {
  /** What the service delivers. */
  readonly name: string;
  readonly delivered: WorkStatus;
  readonly done: (esimId: string) => string;
  /** When the delivery cannot be read for long. */
  readonly overdue: StepNamed<'retry_later'>['reason'];
  readonly failed: string;
  readonly inProgress: (run: Run) => { readonly now: string; readonly next: string };
  readonly afterReport: (outcome: ObservedOutcome, run: Run) => Step;
  readonly awaitService: (run: Run, step: StepNamed<'await_service'>) => Promise<Step>;
}

export function attemptRef({ work, attempt }: Run): AttemptRef {
  return { work, attemptId: attempt.id };
}

/** What is recorded of the attempt; else the meaning of `otherwise`. */
export function failureOf({ attempt }: Run, otherwise: FailureClass): FailureDetail {
  return attempt.failure ?? { class: otherwise, detail: FAILURE_CLASSES[otherwise].meaning };
}

/** The step of the last run if nothing has changed, else by the state of the attempt. */
export function firstStep(run: Run): Step {
  const { witness: carried } = run.input.carried ?? {};
  const { attempt, attention, observations } = run.snapshot;
  const { step, hasNewAction } = run.state;
  const isUnchanged = hasNewAction !== true && observations.length === 0 && isSameAttempt(carried, attempt);
  if (step !== undefined && isUnchanged) return step;
  run.state.awaitedSince = undefined;
  if (attention === 'contradiction')
    return { step: 'open_case', reason: 'contradiction', detail: 'The case was already open when this run began.' };
  return (carried && stepAfterLostEnd(carried, attempt)) ?? nextStep(run);
}

export function nextStep(run: Run): Step {
  const { state, failure, named, settled } = run.attempt;
  const lastFailure = failure?.class ?? 'worker_lost';
  switch (state) {
    case 'prepared':
      return { step: 'send' };
    case 'sending':
      return stepAfterSend(run, { kind: 'failure', failure: 'worker_lost' });
    case 'unknown':
      // An operator has given its service id: it is looked up and never resent.
      if (named) return { step: 'look_up', failure: lastFailure };
      return stepAfterSend(run, { kind: 'failure', failure: lastFailure });
    case 'refused':
      return stepAfterSend(run, { kind: 'failure', failure: lastFailure });
    case 'processing':
    case 'completed':
      return run.rules.afterReport(state, run);
    case 'failed':
      return settled
        ? { step: 'new_attempt', evidence: "The wallet, or an operator's verdict, shows that it cost nothing." }
        : run.rules.afterReport(state, run);
  }
}

export function stepAfterSend({ attempt, state, policy, retryOverrides }: Run, outcome: SendOutcome): NextStep {
  return decideAfterSend(outcome, { ...attempt.history, holds: state.holds }, policy, Date.now(), retryOverrides);
}

/** A change of the attempt takes precedence over `otherwise`. */
export function stepAfterAction(run: Run, otherwise: Step): Step {
  const { state, named } = run.attempt;
  const isChanged = state === 'processing' || state === 'completed' || state === 'failed' || named;
  return isChanged ? nextStep(run) : otherwise;
}

/** A report or an action may lead elsewhere than to `then`. */
export async function waitThen(run: Run, ms: number, summary: WaitName, then: Step): Promise<Step> {
  const woken = await run.wait(ms, summary);
  if (woken === 'observation') return stepAfterReports(run);
  return woken === 'operator' ? stepAfterAction(run, then) : then;
}

/** The relay has judged the reports and stored their content. */
export async function stepAfterReports(run: Run): Promise<Step> {
  const contradicts = run.takeReports();
  // Until a person has judged a contradiction, no report moves the work; it is only recorded.
  if (run.attention === 'contradiction') return REPORT_AFTER_CONTRADICTION;
  if (contradicts) return CONTRADICTION;
  await run.read();
  run.state.unansweredReads = 0;
  if (run.attempt.state === 'processing') {
    const { now: message, next } = run.rules.inProgress(run);
    await run.record({ status: 'processing', message, next });
  }
  return nextStep(run);
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
