import { mayHaveCost, type OperatedAttempt } from '#domain/operator/operator-actions.ts';
import type { AttentionReason } from '#domain/work/attention.ts';
import { KINDS, type WorkKind } from '#domain/work/kinds.ts';
import type { WorkStatus } from '#domain/work/lifecycle.ts';

export interface Resubmission {
  /** `no`: it may have been bought, or may still be, so that both would be paid. `yes`: nothing was bought. */
  readonly verdict: 'not_needed' | 'no' | 'yes';
  readonly reason: string;
}

/** It is uncertain whether the work was bought, or it was paid for without a purchase. */
export const DOUBTS = ['contradiction', 'charge_not_refunded'] as const satisfies readonly AttentionReason[];

interface Resubmitted {
  readonly kind: WorkKind;
  readonly status: WorkStatus;
  readonly attempts: readonly OperatedAttempt[];
  readonly inDoubt: boolean;
}

/** Only `yes` is safe. */
export function resubmission({ kind, ...submitted }: Resubmitted): Resubmission {
  const { verdict, standing } = judged(submitted);
  return { verdict, reason: (KINDS[kind].isPurchase ? OF_PURCHASE : OF_CANCELLATION)[standing] };
}

const OF_PURCHASE = {
  in_doubt: 'A case is open about it: it may have been bought or charged, even if its status does not show that.',
  done: 'It is bought.',
  over: 'It was bought and has ended. Another one is a new purchase.',
  not_done: 'It has ended, and nothing was bought as far as is known.',
  under_way: 'It may be bought already, or it will be bought soon.',
  unknown: 'It may have been bought or charged; that is not known yet.',
  waiting:
    'Nothing is bought so far, but this one may still be bought. A second one would be bought as well: abandon ' +
    'this one first.',
};

const OF_CANCELLATION: typeof OF_PURCHASE = {
  in_doubt: 'A case is open about it: the eSIM may be cancelled, even if its status does not show that.',
  done: 'The eSIM is cancelled.',
  over: 'The eSIM is cancelled.',
  not_done: 'It has ended, and cancelled nothing as far as is known.',
  under_way: 'The eSIM may be cancelled already, or it will be cancelled soon.',
  unknown: 'The eSIM may be cancelled; that is not known yet.',
  waiting: 'Nothing is cancelled so far, but this one may still be carried out. Abandon it first.',
};

interface Judged extends Pick<Resubmission, 'verdict'> {
  readonly standing: keyof typeof OF_PURCHASE;
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
