/**
 * Whether an attempt may be sent now: one send at a time, and an attempt that may have bought only within its window
 * (rules 1 and 2).
 */
import { isNeverResent } from '#domain/purchase/purchase-decision.ts';
import type { AttemptState } from '#domain/relay/observation.ts';
import { isSettledByService } from '#domain/work/attempt-lifecycle.ts';
import type { FailureClass } from '#domain/work/failure.ts';

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

export type SendClaimDecision =
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
