import Big from 'big.js';
import type { BehaviourRule } from '#simulator/behaviour/behaviours.ts';
import type { ResolvedOptions } from '#simulator/options.ts';
import type { EsimState } from '#simulator/sales/esims.ts';
import type { Esim, Movement, Refund, Sale } from '#simulator/store/rows.ts';
import type { RefundCondition } from '#upstream/contract.ts';

type CancellationRule = Extract<BehaviourRule, { operation: 'cancellation' }>;

type CancellationPlan = Pick<Refund, 'cancellation' | 'status' | 'review' | 'due_step'> & {
  readonly delayMs: number | null;
};

/** The conditions decide without a rule. */
export function planned(
  rule: Pick<CancellationRule, 'outcome' | 'delay_ms'> | undefined,
  unmet: readonly RefundCondition[],
  { processingDelayMs, reviewDelayMs }: Pick<ResolvedOptions, 'processingDelayMs' | 'reviewDelayMs'>,
): CancellationPlan {
  if (rule === undefined) return byConditions(unmet, reviewDelayMs);
  const { outcome, delay_ms: delay } = rule;
  switch (outcome) {
    case 'accepted':
      return delay === undefined ? ACCEPTED : { ...PAYING, due_step: 'pay', delayMs: delay };
    case 'refund_failed':
      return delay === undefined ? { ...ACCEPTED, status: 'failed' } : { ...PAYING, due_step: 'fail', delayMs: delay };
    case 'refused':
      return REFUSED;
    case 'processing_then_accepted':
      return { ...REVIEWING, review: null, due_step: 'accept', delayMs: delay ?? processingDelayMs };
    case 'manual_review':
      return REVIEWING;
    case 'manual_review_then_accepted':
      return { ...REVIEWING, due_step: 'accept', delayMs: delay ?? reviewDelayMs };
    case 'manual_review_then_refused':
      return { ...REVIEWING, due_step: 'refuse', delayMs: delay ?? reviewDelayMs };
  }
}

function byConditions(unmet: readonly RefundCondition[], reviewDelayMs: number): CancellationPlan {
  const decision = decisionByConditions(unmet);
  if (decision === 'accepted') return ACCEPTED;
  return decision === 'refused' ? REFUSED : { ...REVIEWING, due_step: 'review', delayMs: reviewDelayMs };
}

const AT_ONCE = { due_step: null, delayMs: null } as const;
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
  readonly esim: Esim;
  readonly usage: EsimState;
  readonly isToppedUp: boolean;
  readonly order: Sale;
  /** Movements that are already visible. */
  readonly movements: readonly Movement[];
}

/** The specification (States and transitions) states the conditions. */
export function unmetConditions(evidence: CancellationEvidence): RefundCondition[] {
  const { esim, usage, isToppedUp } = evidence;
  const confirmed: Readonly<Record<RefundCondition, boolean>> = {
    usage_is_zero: usage.usedMb === 0,
    never_installed: esim.installed_at === null,
    never_activated: esim.activated_at === null,
    no_completed_topup: !isToppedUp,
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
