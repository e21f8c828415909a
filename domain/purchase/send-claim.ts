import { compareMoney, type Money } from '#domain/money/money.ts';
/**
 * Whether an attempt may be sent now: one send at a time, and an attempt that may have bought only within its window
 * (rules 1 and 2).
 */
import { isNeverResent } from '#domain/purchase/purchase-decision.ts';
import type { AttemptState } from '#domain/relay/observation.ts';
import { isSettledByService } from '#domain/work/attempt-lifecycle.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import { isFinal, type WorkStatus } from '#domain/work/lifecycle.ts';

/** The part of an attempt that decides whether it may be sent. Both durations are measured by the database's clock. */
export interface SendCandidate {
  readonly state: AttemptState;
  /** True once a send of the attempt had an unknown result. */
  readonly anyUnknown: boolean;
  /** Failure of its last send, or the one that a person recorded; null: none. */
  readonly failureClass: FailureClass | null;
  /** Milliseconds until the lease of its last send ends; zero or less: it has ended. Null: there is no lease. */
  readonly leaseLeftMs: number | null;
  /** Milliseconds since the first send that was not definitely refused; null: there was none. */
  readonly unrefusedForMs: number | null;
}

type SendClaimDecision =
  /** The service has it already: nothing is sent. */
  | 'settled'
  /** Another send may be under way. */
  | 'leased'
  /** It may have been bought, and no attempt may be resent at this moment. */
  | 'resend_not_allowed'
  /** It may have been bought, and the resend window is over, or a resend would show nothing new. */
  | 'too_late'
  /** It may be sent. */
  | 'claim';

/**
 * Decides whether an attempt may be sent.
 * @param resendWindowMs window from the first send that was not refused, in which an attempt with an unknown result may
 *   be resent; undefined: it may not be resent.
 */
export function decideSendClaim(facts: SendCandidate, resendWindowMs: number | undefined): SendClaimDecision {
  const { state, failureClass, leaseLeftMs, unrefusedForMs } = facts;
  if (isSettledByService(state)) return 'settled';
  if (leaseLeftMs !== null && leaseLeftMs > 0) return 'leased';
  if (!mayHaveBought(facts)) return 'claim';
  // The service knows it already, so a resend shows nothing new. Or a person reported it as bought, and we may never
  // have sent it.
  if (unrefusedForMs === null || (failureClass !== null && isNeverResent(failureClass))) return 'too_late';
  if (resendWindowMs === undefined) return 'resend_not_allowed';
  return unrefusedForMs <= resendWindowMs ? 'claim' : 'too_late';
}

/** True when a send of the attempt may have bought. A `sending` attempt without a lease left no result. */
export function mayHaveBought({ state, anyUnknown }: Pick<SendCandidate, 'state' | 'anyUnknown'>): boolean {
  return anyUnknown || state === 'sending' || state === 'unknown';
}

/**
 * The resend window: the one that the workflow planned with, limited by the present policy, because an operator may
 * have revoked resends meanwhile.
 * @param planned milliseconds; undefined: the workflow planned without resends.
 * @returns milliseconds; undefined: nothing is resent.
 */
export function resendWindowInForce(
  planned: number | undefined,
  inForce: { readonly resendAllowed: boolean; readonly resendWindowMs: number },
): number | undefined {
  return planned === undefined || !inForce.resendAllowed ? undefined : Math.min(planned, inForce.resendWindowMs);
}

/** The highest price that a caller allows; null: any. */
export type PriceLimit = Money | null;

/**
 * True when a price may be charged. A limit in another currency allows no price, because the amounts cannot be
 * compared.
 */
export function isWithin(limit: PriceLimit, price: Money): boolean {
  return limit === null || (limit.currency === price.currency && compareMoney(price, limit) <= 0);
}

/**
 * The limit that counts after two sends of one attempt, of which either may have bought it: the higher one.
 * @param later counts when the two are in different currencies.
 */
export function looserLimit(earlier: PriceLimit, later: PriceLimit): PriceLimit {
  if (later === null) return null;
  return isWithin(earlier, later) ? earlier : later;
}

/** A stored answer, and the state before it was stored. */
export interface StoredAnswer {
  /** State of the attempt before and after the answer was stored. */
  readonly before: AttemptState;
  readonly after: AttemptState;
  /** Status of the work before. */
  readonly work: WorkStatus;
  /**
   * False when another send has taken the lease since, or an event has ended it: the workflow may have continued
   * without this answer.
   */
  readonly holdsLease: boolean;
}

/** Effect on the work. */
export interface AnswerEffect {
  /** True when the hold or the case of the work is over. */
  readonly isInProgress: boolean;
  /** True when the workflow must read its rows again. */
  readonly wakes: boolean;
}

/**
 * Decides the effect of an answer. An answer without new information does not end a wait for a person. The answer of an
 * ordinary send finds the work `submitting` and its lease in force; it wakes no workflow, because the workflow waits
 * for it.
 */
export function afterAnswer({ before, after, work, holdsLease }: StoredAnswer): AnswerEffect {
  if (isFinal(work)) return { isInProgress: false, wakes: false };
  const isNews = before !== after;
  const isWaiting = work === 'held' || work === 'needs_attention';
  return { isInProgress: isNews || !isWaiting, wakes: isNews && (isWaiting || !holdsLease) };
}
