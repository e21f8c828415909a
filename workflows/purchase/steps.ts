import type { NextStep } from '#domain/purchase/purchase-decision.ts';
import type { AwaitedEvidence } from '#domain/purchase/results.ts';
import type { AttentionReason } from '#domain/work/attention.ts';
import type { FailureClass, FailureEnd } from '#domain/work/failure.ts';
import type { WorkEnd } from '#domain/work/lifecycle.ts';

export type Step =
  | Exclude<NextStep, { step: 'fail' | 'await_service' }>
  /** `isDenied`: at the last read the service did not know it any more. */
  | { readonly step: 'await_service'; readonly isDenied?: true }
  | {
      readonly step: 'fail';
      readonly failure: FailureClass;
      readonly detail?: string;
      readonly endedBy?: FailureEnd;
    }
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

export const REPORT_AFTER_CONTRADICTION: Step = {
  ...CONTRADICTION,
  detail: 'The service sent a further report. An operator must resolve the contradiction first.',
};
