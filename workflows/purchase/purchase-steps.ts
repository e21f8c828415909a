import type { WorkEnd } from '#activities/work/work-types.ts';
import type { NextStep } from '#domain/purchase/purchase-decision.ts';
import type { AttentionReason } from '#domain/work/attention.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import { CONTRADICTED } from '#workflows/purchase/work-state.ts';

/** A step of the run: what the domain decided, or an end, or a wait for a person. */
export type Step =
  | NextStep
  | {
      readonly step: 'park';
      readonly reason: AttentionReason;
      readonly detail: string;
      readonly failure?: FailureClass;
      readonly isRecorded?: true;
    }
  | { readonly step: 'fail'; readonly failure: FailureClass; readonly detail?: string }
  /** The service could not be asked, or does not show yet what is missing: a case says so, and time brings `resume`. */
  | {
      readonly step: 'ask_again';
      readonly reason: 'not_answered' | 'delivery_unavailable' | 'refund_missing';
      readonly detail: string;
      readonly failure?: FailureClass;
      readonly resume: 'look_up' | 'settle' | 'deliver' | 'prove_absence';
    }
  /**
   * The service knows nothing of what may have been bought: the list and the wallet together may prove that it is not
   * there.
   */
  | { readonly step: 'prove_absence'; readonly failure: FailureClass; readonly detail: string }
  | { readonly step: 'open_attempt'; readonly number: number; readonly evidence: string }
  /** The attempt failed and cost nothing: another one, if there may be one. */
  | { readonly step: 'buy_anew'; readonly evidence: string }
  | { readonly step: 'end'; readonly end: WorkEnd };

/** Two words of the service that cannot both be true. */
export const CONTRADICTION: Step = {
  step: 'park',
  reason: 'contradiction',
  detail: CONTRADICTED,
};

/** What the service adds to a contradiction that nobody has judged yet. */
export const ONE_MORE_WORD: Step = {
  ...CONTRADICTION,
  detail: 'The service said more about it; what contradicts itself is to be judged first.',
};

/** The step of this name. */
export type StepNamed<Name extends Step['step']> = Extract<Step, { step: Name }>;
