/** Whether a caller who wants the goods should submit again, under another reference of its own. */
import type { AttentionReason } from '#domain/attention.ts';
import type { WorkStatus } from '#domain/lifecycle.ts';
import { mayHaveCost, type OperatedAttempt } from '#domain/operator-actions.ts';

/** `not_needed`: what was submitted is bought, or goes on. `no`: it may have been bought, so that both would be paid. `yes`: nothing was bought. */
export type ResubmissionVerdict = 'not_needed' | 'no' | 'yes';

export interface Resubmission {
  readonly verdict: ResubmissionVerdict;
  /** A sentence. */
  readonly why: string;
}

/** Cases that say that nobody knows whether it was bought, or that it was paid for without having been. */
export const DOUBTS = ['contradiction', 'debited_for_nothing'] as const satisfies readonly AttentionReason[];

export interface Resubmitted {
  readonly status: WorkStatus;
  /** The attempts so far. */
  readonly attempts: readonly OperatedAttempt[];
  /** A case of {@link DOUBTS} is open. */
  readonly inDoubt: boolean;
}

/** Whether it would be safe to submit the same again as new work. Only `yes` is. */
export function resubmission({ status, attempts, inDoubt }: Resubmitted): Resubmission {
  if (inDoubt) return { verdict: 'no', why: 'A case is open about it: it may have been bought or paid for, whatever its status says.' };
  switch (status) {
    case 'completed':
    case 'active':
    case 'cancelling':
      return { verdict: 'not_needed', why: 'It is bought.' };
    case 'cancelled':
    case 'expired':
      return { verdict: 'yes', why: 'It was bought and has ended: another one is a purchase of its own.' };
    case 'failed':
    case 'abandoned':
    case 'refused':
      return { verdict: 'yes', why: 'It has ended, and by all that is known nothing was bought.' };
    case 'submitting':
    case 'processing':
      return { verdict: 'no', why: 'It may have been bought already, or is about to be.' };
    case 'accepted':
    case 'held':
    case 'needs_attention':
      if (attempts.some(({ state }) => state === 'completed')) return { verdict: 'not_needed', why: 'It is bought.' };
      if (attempts.some(mayHaveCost)) return { verdict: 'no', why: 'It may have been bought: that is being found out.' };
      return { verdict: 'not_needed', why: 'Nothing is bought so far, and this one still goes on: a second would be bought as well. Have it abandoned first.' };
  }
}
