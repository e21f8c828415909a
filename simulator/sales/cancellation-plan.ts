import type { CancellationOutcome } from '#simulator/behaviour/behaviours.ts';
import { decisionByConditions } from '#simulator/sales/refund-conditions.ts';
import type { RefundProgress } from '#simulator/store/refunds.ts';
import type { RefundCondition } from '#upstream/contract.ts';

/** The first state of a cancellation, and the milliseconds until its next step; null when no step is planned. */
export type CancellationPlan = Omit<RefundProgress, 'dueAt'> & { readonly delayMs: number | null };

export interface CancellationDelays {
  /** Milliseconds until a planned step, when its rule names no delay. */
  readonly processingDelayMs: number;
  /** Duration of a manual review, in milliseconds. */
  readonly reviewDelayMs: number;
}

/**
 * Decides about a cancellation.
 *
 * @param rule of the admin API; without one, the conditions decide.
 * @param unmet the conditions that are not met.
 */
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
