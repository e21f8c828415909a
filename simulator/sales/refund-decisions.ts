import Big from 'big.js';
import type { CancellationOutcome } from '#simulator/behaviour/behaviours.ts';
import type { EsimState } from '#simulator/sales/esims.ts';
import type { EsimRecord, RefundProgress } from '#simulator/store/esims.ts';
import type { LedgerEntry } from '#simulator/store/ledger.ts';
import type { SaleRecord } from '#simulator/store/sales.ts';
import type { RefundCondition } from '#upstream/contract.ts';

type CancellationPlan = Omit<RefundProgress, 'dueAt'> & { readonly delayMs: number | null };

interface CancellationDelays {
  /** The rule may name another delay. */
  readonly processingDelayMs: number;
  readonly reviewDelayMs: number;
}

/** The conditions decide without a rule. */
export function planned(
  rule: { readonly outcome: CancellationOutcome; readonly delay_ms?: number | undefined } | undefined,
  unmet: readonly RefundCondition[],
  { processingDelayMs, reviewDelayMs }: CancellationDelays,
): CancellationPlan {
  if (rule === undefined) return byConditions(unmet, reviewDelayMs);
  const { outcome, delay_ms: delay } = rule;
  switch (outcome) {
    case 'accepted':
      return delay === undefined ? ACCEPTED : { ...PAYING, dueStep: 'pay', delayMs: delay };
    case 'refund_failed':
      return delay === undefined ? { ...ACCEPTED, status: 'failed' } : { ...PAYING, dueStep: 'fail', delayMs: delay };
    case 'refused':
      return REFUSED;
    case 'processing_then_accepted':
      return { ...REVIEWING, review: null, dueStep: 'accept', delayMs: delay ?? processingDelayMs };
    case 'manual_review':
      return REVIEWING;
    case 'manual_review_then_accepted':
      return { ...REVIEWING, dueStep: 'accept', delayMs: delay ?? reviewDelayMs };
    case 'manual_review_then_refused':
      return { ...REVIEWING, dueStep: 'refuse', delayMs: delay ?? reviewDelayMs };
  }
}

function byConditions(unmet: readonly RefundCondition[], reviewDelayMs: number): CancellationPlan {
  const decision = decisionByConditions(unmet);
  if (decision === 'accepted') return ACCEPTED;
  return decision === 'refused' ? REFUSED : { ...REVIEWING, dueStep: 'review', delayMs: reviewDelayMs };
}

const AT_ONCE = { dueStep: null, delayMs: null } as const;
const ACCEPTED: CancellationPlan = { cancellation: 'cancelled', status: 'completed', review: 'accepted', ...AT_ONCE };
const PAYING: CancellationPlan = { ...ACCEPTED, status: 'processing' };
const REFUSED: CancellationPlan = { cancellation: 'refused', status: 'failed', review: 'refused', ...AT_ONCE };
const REVIEWING: CancellationPlan = {
  cancellation: 'processing',
  status: 'processing',
  review: 'manual_review',
  ...AT_ONCE,
};

interface CancellationEvidence {
  readonly esim: EsimRecord;
  readonly usage: EsimState;
  readonly completedTopups: number;
  readonly order: SaleRecord;
  /** Movements that are already visible. */
  readonly movements: readonly LedgerEntry[];
}

/** The specification (States and transitions) states the conditions. */
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

type RefundDecision = 'accepted' | 'refused' | 'manual_review';

/** Nothing was used, but a phone has the profile, or the debit is not visible (yet). */
const NEEDS_REVIEW: ReadonlySet<RefundCondition> = new Set(['never_installed', 'debit_verified']);

function decisionByConditions(unmet: readonly RefundCondition[]): RefundDecision {
  if (unmet.length === 0) return 'accepted';
  return unmet.every((condition) => NEEDS_REVIEW.has(condition)) ? 'manual_review' : 'refused';
}

/** An installed but unused profile is refunded; a missing debit is not. */
export function decisionOfReview(unmet: readonly RefundCondition[]): 'accepted' | 'refused' {
  return unmet.every((condition) => condition === 'never_installed') ? 'accepted' : 'refused';
}

/** Exactly one debit of the order's price, and no credit. */
function isDebitVerified({ order, movements }: CancellationEvidence): boolean {
  const [debit, ...others] = movements;
  return others.length === 0 && debit?.type === 'debit' && new Big(debit.amount).eq(order.price);
}
