import Big from 'big.js';
import type { EsimState } from '#simulator/sales/esim-state.ts';
import type { EsimRecord } from '#simulator/store/esims.ts';
import type { LedgerEntry } from '#simulator/store/ledger.ts';
import type { SaleRecord } from '#simulator/store/sales.ts';
import type { RefundCondition } from '#upstream/contract.ts';

/** The data by which a cancellation is judged. */
export interface CancellationEvidence {
  readonly esim: EsimRecord;
  readonly usage: EsimState;
  readonly completedTopups: number;
  readonly order: SaleRecord;
  /** The movements of the order that are already visible. */
  readonly movements: readonly LedgerEntry[];
}

/** The conditions of an automatic refund (specification, States and transitions) that are not met. */
export function unmetConditions(evidence: CancellationEvidence): RefundCondition[] {
  const { esim, usage, completedTopups } = evidence;
  const confirmed: Readonly<Record<RefundCondition, boolean>> = {
    usage_is_zero: usage.usedMb === 0,
    never_installed: esim.installedAt === null,
    never_activated: esim.activatedAt === null,
    no_completed_topup: completedTopups === 0,
    debit_verified: isDebitVerified(evidence),
  };
  return (Object.keys(confirmed) as RefundCondition[]).filter((condition) => !confirmed[condition]);
}

/** The result of a review. */
export type RefundDecision = 'accepted' | 'refused' | 'manual_review';

/**
 * Unmet conditions that need a manual review: nothing was used, but a phone has the profile, or the debit is not
 * visible (yet).
 */
const NEEDS_REVIEW: ReadonlySet<RefundCondition> = new Set(['never_installed', 'debit_verified']);

/** The decision of the conditions, without a manual review. */
export function decisionByConditions(unmet: readonly RefundCondition[]): RefundDecision {
  if (unmet.length === 0) return 'accepted';
  return unmet.every((condition) => NEEDS_REVIEW.has(condition)) ? 'manual_review' : 'refused';
}

/** The decision of a manual review: an installed but unused profile is refunded; a missing debit is not. */
export function decisionOfReview(unmet: readonly RefundCondition[]): 'accepted' | 'refused' {
  return unmet.every((condition) => condition === 'never_installed') ? 'accepted' : 'refused';
}

/** True when the wallet has exactly one debit of the order's price and no credit for it. */
function isDebitVerified({ order, movements }: CancellationEvidence): boolean {
  const [debit, ...others] = movements;
  return others.length === 0 && debit?.type === 'debit' && new Big(debit.amount).eq(order.price);
}
