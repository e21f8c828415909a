import type { NextStep } from '#domain/purchase/purchase-decision.ts';
import type { AwaitedEvidence } from '#domain/purchase/results.ts';
import type { AttentionReason } from '#domain/work/attention.ts';
import type { FailureClass, FailureEnd } from '#domain/work/failure.ts';
import type { WorkEnd } from '#domain/work/lifecycle.ts';

/** A step of a purchase or cancellation: the decisions of the domain after a send, and further steps. */
export type Step =
  | Exclude<NextStep, { step: 'fail' | 'await_service' }>
  /** The service has accepted it. `isDenied`: at the last read the service did not know it any more. */
  | { readonly step: 'await_service'; readonly isDenied?: true }
  /** The work ends without effect. */
  | {
      readonly step: 'fail';
      readonly failure: FailureClass;
      readonly detail?: string;
      readonly endedBy?: FailureEnd;
    }
  /** The service does not list an attempt that may have bought: its list and its wallet may prove that it did not. */
  | { readonly step: 'prove_absence'; readonly failure: FailureClass; readonly detail: string }
  /** Nothing proves yet what the attempt cost: wait, then `resume`. */
  | ({
      readonly step: 'await_evidence';
      readonly failure: FailureClass;
      readonly resume: 'settle' | 'prove_absence';
    } & AwaitedEvidence)
  /** The attempt failed and cost nothing: wait, then open another one if one is allowed. */
  | { readonly step: 'new_attempt'; readonly evidence: string }
  | { readonly step: 'open_attempt'; readonly number: number; readonly evidence: string }
  /** The service did not answer, or shows nothing that can be used: a case opens, and `resume` follows after a wait. */
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
  /** A person must decide. */
  | {
      readonly step: 'open_case';
      readonly reason: AttentionReason;
      readonly detail: string;
      readonly failure?: FailureClass;
      /** The work provably cost nothing: it fails at its deadline if nobody has decided before. */
      readonly endsAtDeadline?: true;
      /** True when the run before has recorded the case. */
      readonly isRecorded?: true;
    }
  | { readonly step: 'end'; readonly end: WorkEnd };

/** The step of this name. */
export type StepNamed<Name extends Step['step']> = Extract<Step, { step: Name }>;

/** Message of the case that is opened for a contradiction, for work of every kind. */
export const CONTRADICTED = 'The service reported two things about it that cannot both be true.';

export const CONTRADICTION: Step = { step: 'open_case', reason: 'contradiction', detail: CONTRADICTED };

/** A further report while the contradiction is not judged. */
export const REPORT_AFTER_CONTRADICTION: Step = {
  ...CONTRADICTION,
  detail: 'The service sent a further report. An operator must resolve the contradiction first.',
};
