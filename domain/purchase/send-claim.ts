/**
 * One send at a time, and an attempt with an unknown outcome only within its window (rules 1 and 2 of
 * docs/reference/rules.md).
 */
import { compareMoney, type Money } from '#domain/money/money.ts';
import { isNeverResent } from '#domain/purchase/purchase-decision.ts';
import type { AttemptState } from '#domain/relay/observation.ts';
import { isKnownToService } from '#domain/work/attempt-lifecycle.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import { isFinal, type WorkStatus } from '#domain/work/lifecycle.ts';

/** Both durations are measured by the database's clock. */
export interface SendCandidate {
  readonly state: AttemptState;
  readonly anyUnknown: boolean;
  /** The failure of its last send, or the one that a person recorded. */
  readonly failureClass: FailureClass | null;
  /** Zero or less: the lease has ended. Null: there is no lease. */
  readonly leaseLeftMs: number | null;
  /** Since the first send that was not definitely refused; null: there was none. */
  readonly unrefusedForMs: number | null;
}

type SendClaimDecision =
  | 'known_to_service'
  /** Another send may be under way. */
  | 'leased'
  /** It may have been bought. */
  | 'resend_not_allowed'
  /** The resend window is over, or a resend would show nothing new. */
  | 'too_late'
  | 'claim';

/** @param resendWindowMs from the first send that was not refused; undefined: nothing unknown may be resent. */
export function decideSendClaim(facts: SendCandidate, resendWindowMs: number | undefined): SendClaimDecision {
  const { state, failureClass, leaseLeftMs, unrefusedForMs } = facts;
  if (isKnownToService(state)) return 'known_to_service';
  if (leaseLeftMs !== null && leaseLeftMs > 0) return 'leased';
  if (!isOutcomeUnknown(facts)) return 'claim';
  // A resend shows nothing new. Or a person reported it as bought, and we may never have sent it.
  if (unrefusedForMs === null || (failureClass !== null && isNeverResent(failureClass))) return 'too_late';
  if (resendWindowMs === undefined) return 'resend_not_allowed';
  return unrefusedForMs <= resendWindowMs ? 'claim' : 'too_late';
}

/**
 * A send may have bought, and the service has not said so. False for what it calls `processing` or `completed`. A
 * `sending` attempt without a lease left no result.
 */
export function isOutcomeUnknown({ state, anyUnknown }: Pick<SendCandidate, 'state' | 'anyUnknown'>): boolean {
  return anyUnknown || state === 'sending' || state === 'unknown';
}

/** An operator may have revoked resends meanwhile. @returns milliseconds; undefined: nothing is resent. */
export function resendWindowInForce(
  planned: number | undefined,
  inForce: { readonly resendAllowed: boolean; readonly resendWindowMs: number },
): number | undefined {
  return planned === undefined || !inForce.resendAllowed ? undefined : Math.min(planned, inForce.resendWindowMs);
}

export type PriceLimit = Money | null;

/** A limit in another currency allows no price, because the amounts cannot be compared. */
export function isWithin(limit: PriceLimit, price: Money): boolean {
  return limit === null || (limit.currency === price.currency && compareMoney(price, limit) <= 0);
}

/** Either send may have bought it. @returns the higher limit, or `later` when the currencies differ. */
export function looserLimit(earlier: PriceLimit, later: PriceLimit): PriceLimit {
  if (later === null) return null;
  return isWithin(earlier, later) ? earlier : later;
}

interface StoredAnswer {
  readonly before: AttemptState;
  readonly after: AttemptState;
  readonly work: WorkStatus;
  /** Another send has the lease, or an event ended it: the workflow may have continued without this answer. */
  readonly holdsLease: boolean;
}

interface AnswerEffect {
  readonly isInProgress: boolean;
  /** The workflow must read its rows again. */
  readonly wakes: boolean;
}

/** An answer that changes nothing ends no wait for a person. An ordinary answer wakes no workflow. */
export function afterAnswer({ before, after, work, holdsLease }: StoredAnswer): AnswerEffect {
  if (isFinal(work)) return { isInProgress: false, wakes: false };
  const hasChanged = before !== after;
  const isWaiting = work === 'held' || work === 'needs_attention';
  return { isInProgress: hasChanged || !isWaiting, wakes: hasChanged && (isWaiting || !holdsLease) };
}
