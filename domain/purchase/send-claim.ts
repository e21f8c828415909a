/**
 * Whether an attempt may be sent now: one send at a time, and what may have been bought only within its window (rules 1
 * and 2).
 */
import { isNeverResent } from '#domain/purchase/purchase-decision.ts';
import type { AttemptState } from '#domain/relay/observation.ts';
import { isSettledByService } from '#domain/work/attempt-lifecycle.ts';
import type { FailureClass } from '#domain/work/failure.ts';

/** What of an attempt decides whether it may be sent. Both durations are measured by the clock of the database. */
export interface SendCandidate {
  readonly state: AttemptState;
  /** True once any send of the attempt ended without proof of what it did. */
  readonly anyUnknown: boolean;
  /** What its last send, or a person, left; null: nothing. */
  readonly failureClass: FailureClass | null;
  /** Milliseconds until the lease of its last send ends; zero or less: it has ended. Null: there is none. */
  readonly leaseLeftMs: number | null;
  /** Milliseconds since the first send that was not definitely refused; null: there was none. */
  readonly unrefusedForMs: number | null;
}

export type SendClaimDecision =
  /** The service has it already: nothing is to be sent. */
  | 'settled'
  /** Another send may be under way. */
  | 'leased'
  /** It may have been bought, and nothing of this kind may be sent twice at this moment. */
  | 'resend_not_allowed'
  /** It may have been bought, and the same bytes may not be sent again: not any more, or never. */
  | 'too_late'
  /** It may be sent. */
  | 'claim';

/**
 * Decides whether an attempt may be sent.
 *
 * @param resendWindowMs since the first send that was not refused: within it one whose outcome is unknown may be sent
 *   again. Undefined: such a one may not be sent again.
 */
export function decideSendClaim(facts: SendCandidate, resendWindowMs: number | undefined): SendClaimDecision {
  const { state, failureClass, leaseLeftMs, unrefusedForMs } = facts;
  if (isSettledByService(state)) return 'settled';
  if (leaseLeftMs !== null && leaseLeftMs > 0) return 'leased';
  if (!mayHaveBought(facts)) return 'claim';
  // What the service knows already says no more when it is sent again, and what a person calls bought was perhaps never
  // sent by us.
  if (unrefusedForMs === null || (failureClass !== null && isNeverResent(failureClass))) return 'too_late';
  if (resendWindowMs === undefined) return 'resend_not_allowed';
  return unrefusedForMs <= resendWindowMs ? 'claim' : 'too_late';
}

/** True when a send of the attempt may have bought. One that is being sent, with its lease over, left no result. */
export function mayHaveBought({ state, anyUnknown }: Pick<SendCandidate, 'state' | 'anyUnknown'>): boolean {
  return anyUnknown || state === 'sending' || state === 'unknown';
}

/**
 * The window in which the same bytes may be sent again: what the workflow planned with, cut down to what is in force
 * now, since an operator may have revoked it meanwhile.
 *
 * @param planned milliseconds; undefined: the workflow planned without resends.
 * @returns milliseconds; undefined: nothing is sent again.
 */
export function resendWindowInForce(
  planned: number | undefined,
  inForce: { readonly resendAllowed: boolean; readonly resendWindowMs: number },
): number | undefined {
  return planned === undefined || !inForce.resendAllowed ? undefined : Math.min(planned, inForce.resendWindowMs);
}
