import { compareAmounts, compareMoney, equalMoney, plainText, type Money } from '#domain/money/money.ts';
import type { ObservationDecision, ObservedOutcome } from '#domain/relay/observation.ts';

export const REFUND_STATES = ['processing', 'completed', 'failed'] as const;
export type RefundState = (typeof REFUND_STATES)[number];

/** The results of a review (specification, States and transitions). */
export const REFUND_REVIEWS = ['accepted', 'refused', 'manual_review'] as const;
export type RefundReview = (typeof REFUND_REVIEWS)[number];

/** `completed` only after its money was found in the wallet, or a person saw it there. */
export const REFUND_STATUSES = ['expected', 'manual_review', 'completed', 'failed', 'needs_attention'] as const;
export type RefundStatus = (typeof REFUND_STATUSES)[number];

export interface RefundReport {
  readonly state: RefundState;
  readonly review?: RefundReview | undefined;
}

export interface CancellationReport {
  readonly esim?: 'processing' | 'cancelled' | 'refused' | undefined;
  readonly refund?: RefundReport | undefined;
  readonly serviceRefundId?: string | undefined;
  /** Given back to the reseller. */
  readonly refunded?: Money | undefined;
}

/** `completed`: the eSIM is cancelled and its refund is decided. @param report see {@link mergeReports}. */
export function cancellationOutcome({ esim, refund }: CancellationReport): ObservedOutcome {
  if (esim === 'refused') return 'failed';
  if (refund === undefined || refund.state === 'processing') return 'processing';
  if (refund.state === 'completed' || refund.review === 'accepted' || esim === 'cancelled') return 'completed';
  // A refused refund is the refusal of the whole cancellation. A refund that failed without a named reason proves
  // nothing about the eSIM.
  return refund.review === 'refused' ? 'failed' : 'processing';
}

export function isCancelled({ esim, refund }: CancellationReport): boolean {
  return esim === 'cancelled' || refund?.state === 'completed' || (refund?.review === 'accepted' && esim === undefined);
}

const REFUND_DECISIONS = {
  unreported: { processing: 'advance', completed: 'advance', failed: 'advance' },
  processing: { processing: 'known', completed: 'advance', failed: 'advance' },
  completed: { processing: 'known', completed: 'known', failed: 'contradiction' },
  // The service may still pay a refund that failed.
  failed: { processing: 'known', completed: 'advance', failed: 'known' },
} as const satisfies Record<RefundState | 'unreported', Record<RefundState, ObservationDecision>>;

/** @param report undefined when the observation says nothing about the refund. */
export function judgeRefund(known: RefundReport | undefined, report: RefundReport | undefined): ObservationDecision {
  if (report === undefined) return 'known';
  const decision = REFUND_DECISIONS[known?.state ?? 'unreported'][report.state];
  const newReview = report.review !== undefined && report.review !== known?.review;
  return decision === 'known' && known?.state === report.state && newReview ? 'advance' : decision;
}

/** The order of the reports does not matter, and a cancelled eSIM stays cancelled. */
export function mergeReports(known: CancellationReport, report: CancellationReport): CancellationReport {
  const isNew = judgeRefund(known.refund, report.refund) === 'advance';
  const refund =
    isNew && report.refund !== undefined
      ? { state: report.refund.state, review: report.refund.review ?? known.refund?.review }
      : known.refund;
  const esim = known.esim === 'cancelled' ? known.esim : (report.esim ?? known.esim);
  return { ...(esim !== undefined && { esim }), ...(refund !== undefined && { refund }) };
}

type ReportedRefundStatus = Extract<RefundStatus, 'expected' | 'manual_review' | 'failed'>;

/** A refund that the service reports as paid is still `expected`: the wallet has to show the money. */
export function refundStatusOf({ state, review }: RefundReport): ReportedRefundStatus {
  if (state === 'failed') return 'failed';
  return state === 'processing' && review === 'manual_review' ? 'manual_review' : 'expected';
}

export interface RefundOfOrder {
  readonly serviceRefundId: string | null;
  readonly reportedAmount: Money | undefined;
  readonly isInForce: boolean;
}

/** One eSIM may have several refunds, such as a failed and a paid one. An id that the service names decides first. */
export function refundOfCredit<Refund extends RefundOfOrder>(
  refunds: readonly Refund[],
  { refundId, money }: { readonly refundId: string | null; readonly money: Money },
): Refund | undefined {
  const possible = refunds.filter(
    ({ reportedAmount }) => reportedAmount !== undefined && equalMoney(reportedAmount, money),
  );
  const named = possible.find(({ serviceRefundId }) => serviceRefundId !== null && serviceRefundId === refundId);
  if (named !== undefined) return named;
  const unnamed = possible.filter(({ serviceRefundId }) => serviceRefundId === null || refundId === null);
  return unnamed.find(({ isInForce }) => isInForce) ?? unnamed[0];
}

/** `settles_otherwise`: as reported, but not what was debited, so a person has to know. */
export type CreditVerdict = 'settles' | 'settles_otherwise' | 'other_amount';

interface ExpectedCredit {
  readonly debit: Money | undefined;
  readonly reported: Money | undefined;
}

/** Zero, and money in another currency, settles nothing, whatever was reported. */
export function judgeCredit(credit: Money, { debit, reported }: ExpectedCredit): CreditVerdict {
  if (debit !== undefined && compareAmounts(debit, credit) === 'equal') return 'settles';
  const isZero = compareMoney(credit, { amount: '0', currency: credit.currency }) === 0;
  if (isZero || (debit !== undefined && debit.currency !== credit.currency)) return 'other_amount';
  const isReported = reported !== undefined && equalMoney(reported, credit);
  if (debit === undefined) return reported === undefined || isReported ? 'settles' : 'other_amount';
  return isReported ? 'settles_otherwise' : 'other_amount';
}

export function otherCreditText(credit: Money, { debit, reported }: ExpectedCredit): string {
  const expected =
    debit === undefined
      ? reported !== undefined && `it reported ${plainText(reported)}`
      : `the debit was ${plainText(debit)}`;
  const tail = expected === false ? '' : `; ${expected}`;
  return `The service credited ${plainText(credit)} as the refund${tail}.`;
}

/** Money that was found in the wallet stays there: a later report does not reopen a completed refund. */
export function refundStatusAfterReport(known: RefundStatus | undefined, reported: ReportedRefundStatus): RefundStatus {
  return known === 'completed' ? known : reported;
}

const UNPAID = REFUND_STATUSES.filter((status) => status !== 'completed');

/** `from`: the statuses that it may replace. The service may still pay a refund that failed. */
export const PAID_REFUND = { status: 'completed', from: REFUND_STATUSES } as const;
export const GIVEN_UP_REFUND = { status: 'failed', from: UNPAID } as const;
export const REFUND_NEEDING_ATTENTION = { status: 'needs_attention', from: UNPAID } as const;
