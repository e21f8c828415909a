/**
 * The cancellation of an eSIM with its refund: what the service says of both, what that means for the purchase-like
 * attempt by which we asked for it, and how we show the refund.
 */
import { equalMoney, type Money } from '#domain/money/money.ts';
import type { ObservationDecision, ObservedOutcome } from '#domain/relay/observation.ts';

/** What the service says of a refund: the outcomes that its events name, and the time before them. */
export const REFUND_STATES = ['processing', 'completed', 'failed'] as const;
export type RefundState = (typeof REFUND_STATES)[number];

/** The results of a review (specification, States and transitions). */
export const REFUND_REVIEWS = ['accepted', 'refused', 'manual_review'] as const;
export type RefundReview = (typeof REFUND_REVIEWS)[number];

/** How our API shows a refund. `completed` only once its money was found in the wallet, or a person saw it there. */
export const REFUND_STATUSES = ['expected', 'manual_review', 'completed', 'failed', 'needs_attention'] as const;
export type RefundStatus = (typeof REFUND_STATUSES)[number];

/** What is said of a refund; parts that nobody has said are undefined. */
export interface RefundWord {
  readonly state: RefundState;
  readonly review?: RefundReview | undefined;
}

/** What is said of a cancellation: of the eSIM, and of the money. */
export interface CancellationWord {
  /** Undefined where only the refund is spoken of. */
  readonly esim?: 'processing' | 'cancelled' | 'refused' | undefined;
  readonly refund?: RefundWord | undefined;
}

/**
 * What a word about a cancellation means for the attempt: `completed` when the eSIM is cancelled and its refund
 * decided, `failed` when the eSIM stays as it is, `processing` while either is open.
 *
 * @param word with what is known already from earlier ones.
 */
export function cancellationOutcome({ esim, refund }: CancellationWord): ObservedOutcome {
  if (esim === 'refused') return 'failed';
  if (refund === undefined || refund.state === 'processing') return 'processing';
  if (refund.state === 'completed' || refund.review === 'accepted' || esim === 'cancelled') return 'completed';
  // A refund that was refused is the refusal of the whole cancellation; one that failed for no named reason says
  // nothing of the eSIM.
  return refund.review === 'refused' ? 'failed' : 'processing';
}

/** True when a word says, or implies, that the eSIM is cancelled. */
export function isCancelled({ esim, refund }: CancellationWord): boolean {
  return esim === 'cancelled' || refund?.state === 'completed' || (refund?.review === 'accepted' && esim === undefined);
}

/** By what is known of a refund (`unheard`: nothing), what a further word about it means. */
export const REFUND_DECISIONS = {
  unheard: { processing: 'advance', completed: 'advance', failed: 'advance' },
  processing: { processing: 'known', completed: 'advance', failed: 'advance' },
  completed: { processing: 'known', completed: 'known', failed: 'contradiction' },
  // A refund that failed may be paid after all.
  failed: { processing: 'known', completed: 'advance', failed: 'known' },
} as const satisfies Record<RefundState | 'unheard', Record<RefundState, ObservationDecision>>;

/** Decides what a word about a refund means. @param known undefined before the first. */
export function judgeRefund(known: RefundWord | undefined, told: RefundWord | undefined): ObservationDecision {
  if (told === undefined) return 'known';
  const decision = REFUND_DECISIONS[known?.state ?? 'unheard'][told.state];
  const newReview = told.review !== undefined && told.review !== known?.review;
  return decision === 'known' && known?.state === told.state && newReview ? 'advance' : decision;
}

/**
 * A word of the service together with what is known from earlier ones, in whatever order they come. What was cancelled
 * stays so, and what is no news changes nothing; a contradiction is judged before anything is stored.
 */
export function together(known: CancellationWord, told: CancellationWord): CancellationWord {
  const isNews = judgeRefund(known.refund, told.refund) === 'advance';
  const refund =
    isNews && told.refund !== undefined
      ? { state: told.refund.state, review: told.refund.review ?? known.refund?.review }
      : known.refund;
  const esim = known.esim === 'cancelled' ? known.esim : (told.esim ?? known.esim);
  return { ...(esim !== undefined && { esim }), ...(refund !== undefined && { refund }) };
}

/** Shows a refund before it is settled. Paid by its own word, it is still expected: the wallet has to show it. */
export function refundStatusOf({
  state,
  review,
}: RefundWord): Extract<RefundStatus, 'expected' | 'manual_review' | 'failed'> {
  if (state === 'failed') return 'failed';
  return state === 'processing' && review === 'manual_review' ? 'manual_review' : 'expected';
}

/** A refund of ours that a credit of the wallet may be. */
export interface RefundOfOrder {
  /** The service's id; null while it is not known. */
  readonly serviceRefundId: string | null;
  /** What the service said that it comes to. */
  readonly told: Money | undefined;
  /** False when its cancellation was refused or given up. */
  readonly isInForce: boolean;
}

/**
 * Which of the refunds of one order a credit of the wallet is. One eSIM may have several: a cancellation that was
 * refused leaves its refund as failed, and a further one is paid. An id that the service names goes before what may be
 * concluded.
 *
 * @param credit.refundId the service's id of the refund, where it names one.
 * @returns undefined where none was told to be of this amount.
 */
export function refundOfCredit<Refund extends RefundOfOrder>(
  refunds: readonly Refund[],
  { refundId, money }: { readonly refundId: string | null; readonly money: Money },
): Refund | undefined {
  const possible = refunds.filter(({ told }) => told !== undefined && equalMoney(told, money));
  const named = possible.find(({ serviceRefundId }) => serviceRefundId !== null && serviceRefundId === refundId);
  if (named !== undefined) return named;
  const unnamed = possible.filter(({ serviceRefundId }) => serviceRefundId === null || refundId === null);
  return unnamed.find(({ isInForce }) => isInForce) ?? unnamed[0];
}
