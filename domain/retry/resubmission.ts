import { mayHaveCost, type OperatedAttempt } from '#domain/operator/operator-actions.ts';
import type { AttentionReason } from '#domain/work/attention.ts';
import { type KindTexts, KINDS, type WorkKind } from '#domain/work/kinds.ts';
import type { WorkStatus } from '#domain/work/lifecycle.ts';

/** `no`: it may have been bought, or may still be, so that both would be paid. `yes`: nothing was bought. */
type ResubmissionVerdict = 'not_needed' | 'no' | 'yes';

export interface Resubmission {
  readonly verdict: ResubmissionVerdict;
  readonly reason: string;
}

/** It is uncertain whether the work was bought, or it was paid for without a purchase. */
export const DOUBTS = ['contradiction', 'charge_not_refunded'] as const satisfies readonly AttentionReason[];

export interface Resubmitted {
  readonly kind: WorkKind;
  readonly status: WorkStatus;
  readonly attempts: readonly OperatedAttempt[];
  readonly inDoubt: boolean;
}

/** Only `yes` is safe. */
export function resubmission({ kind, ...submitted }: Resubmitted): Resubmission {
  const { verdict, standing } = judged(submitted);
  return { verdict, reason: KINDS[kind].texts.resubmission[standing] };
}

interface Judged {
  readonly verdict: ResubmissionVerdict;
  readonly standing: keyof KindTexts['resubmission'];
}

function judged({ status, attempts, inDoubt }: Omit<Resubmitted, 'kind'>): Judged {
  if (inDoubt) return { verdict: 'no', standing: 'in_doubt' };
  switch (status) {
    case 'completed':
    case 'active':
    case 'cancelling':
      return { verdict: 'not_needed', standing: 'done' };
    case 'cancelled':
    case 'expired':
      return { verdict: 'yes', standing: 'over' };
    case 'failed':
    case 'abandoned':
    case 'refused':
      return { verdict: 'yes', standing: 'not_done' };
    case 'submitting':
    case 'processing':
      return { verdict: 'no', standing: 'under_way' };
    case 'accepted':
    case 'held':
    case 'needs_attention':
      if (attempts.some(({ state }) => state === 'completed')) return { verdict: 'not_needed', standing: 'done' };
      if (attempts.some(mayHaveCost)) return { verdict: 'no', standing: 'unknown' };
      // A person may still let it be bought.
      return { verdict: status === 'needs_attention' ? 'no' : 'not_needed', standing: 'waiting' };
  }
}
