import { backoffMs } from '#domain/policy/backoff.ts';
import type { PurchasePolicy } from '#domain/policy/purchase-policy.ts';
import type { ObservedOutcome } from '#domain/relay/observation.ts';
import { FAILURE_CLASSES, isDefinite, type FailureClass } from '#domain/work/failure.ts';
import { retryRule, ruleOfWork, type RetryOverrides } from '#domain/work/retry-rules.ts';

/** What one send of an attempt came to. */
export type SendOutcome =
  /** The service has the order; `outcome` is what it says of it. */
  | { readonly kind: 'accepted'; readonly outcome: ObservedOutcome }
  | { readonly kind: 'failure'; readonly failure: FailureClass; readonly retryAfterMs?: number }
  /**
   * The purchase gate does not let it through; nothing was sent. `recheckMs`: it asks again then, unless it is woken
   * before.
   */
  | { readonly kind: 'gated'; readonly failure: FailureClass; readonly detail: string; readonly recheckMs: number }
  /** Another send of this attempt may still be under way; nothing was sent. */
  | { readonly kind: 'lease_held'; readonly retryAfterMs: number };

/**
 * Why nothing may be bought for an order, and why it may not fail, at this moment. `contradiction`: the service said
 * two things that cannot both be true, and a person has to judge. `observations_pending`: it said something that has
 * not been taken into account yet.
 */
export type BuyingBarrier = 'contradiction' | 'observations_pending';

/** What is known of an attempt when a send of it ends. */
export interface AttemptHistory {
  /** Epoch milliseconds of the first send; undefined before it. */
  readonly firstSentAt: number | undefined;
  /**
   * Epoch milliseconds of the first send that was not definitely refused, from which the resend window counts;
   * undefined: none was.
   */
  readonly firstUnrefusedSendAt?: number | undefined;
  /** Sends so far, this one included. */
  readonly sends: number;
  /** Holds in a row so far, this one not included; sets the back-off. */
  readonly holds: number;
  /** True once any send of this attempt ended without proof of what it did. From then on a refusal proves nothing. */
  readonly anyUnknown: boolean;
}

/** The next step of a purchase. */
export type NextStep =
  | { readonly step: 'send' }
  | { readonly step: 'await_service' }
  | { readonly step: 'deliver' }
  /** The service reports the attempt as failed: read the wallet, then fail or buy anew. */
  | { readonly step: 'settle'; readonly failure: FailureClass }
  | { readonly step: 'fail'; readonly failure: FailureClass }
  /**
   * `gated`: why the purchase gate holds it, in a sentence; absent where the service itself refused. `asked`: the
   * service named the time, so no rule of ours shortens it.
   */
  | {
      readonly step: 'hold';
      readonly failure: FailureClass;
      readonly delayMs: number;
      readonly gated?: string;
      readonly asked?: true;
    }
  /** Send the same bytes with the same key once more. */
  | { readonly step: 'resend'; readonly failure: FailureClass; readonly delayMs: number; readonly gated?: string }
  /** Ask the service what became of the attempt; what it cannot say is parked. */
  | { readonly step: 'look_up'; readonly failure: FailureClass }
  | { readonly step: 'wait_for_lease'; readonly delayMs: number };

/**
 * Decides how a purchase goes on after a send: the whole of rule 2 of the design.
 *
 * Once a send was unknown, a later refusal of the same attempt is no evidence ("balance too low" may be our own first
 * debit), so it is treated as one more unknown.
 *
 * @param now epoch milliseconds.
 * @param overrides what an operator has set for this work.
 */
export function decideAfterSend(
  outcome: SendOutcome,
  history: AttemptHistory,
  policy: PurchasePolicy,
  now: number,
  overrides: RetryOverrides = {},
): NextStep {
  if (outcome.kind === 'lease_held') return { step: 'wait_for_lease', delayMs: outcome.retryAfterMs };
  if (outcome.kind === 'accepted') return afterAcceptance(outcome.outcome);
  if (outcome.kind === 'gated') return atGate(outcome, history, policy, now);

  const { failure } = outcome;
  if (!isDefinite(failure) || history.anyUnknown) return afterUnknown(outcome, history, policy, now);

  switch (FAILURE_CLASSES[failure].disposition) {
    case 'fail':
      return { step: 'fail', failure };
    case 'new_attempt':
      return { step: 'settle', failure };
    case 'hold': {
      if (outcome.retryAfterMs !== undefined)
        return { step: 'hold', failure, delayMs: outcome.retryAfterMs, asked: true };
      const { firstDelayMs, maxDelayMs } = ruleOfWork(retryRule(failure, policy), overrides);
      return { step: 'hold', failure, delayMs: backoffMs(firstDelayMs, maxDelayMs, history.holds + 1) };
    }
    case 'look_up':
      return { step: 'look_up', failure };
  }
}

/**
 * Nothing was sent. What bought nothing so far is held. What may have bought is never just held: within its window it
 * waits to be sent again, and then the service is asked.
 */
function atGate(
  { failure, detail: gated, recheckMs }: Extract<SendOutcome, { kind: 'gated' }>,
  history: AttemptHistory,
  policy: PurchasePolicy,
  now: number,
): NextStep {
  if (!history.anyUnknown) return { step: 'hold', failure, delayMs: recheckMs, gated };
  const windowLeft = windowEnd(history, policy, now) - now;
  if (!policy.resendAllowed || windowLeft <= 0) return { step: 'look_up', failure };
  return { step: 'resend', failure, delayMs: Math.min(recheckMs, windowLeft), gated };
}

/** How a purchase goes on once the service is known to have it. */
export function afterAcceptance(outcome: ObservedOutcome): NextStep {
  switch (outcome) {
    case 'processing':
      return { step: 'await_service' };
    case 'completed':
      return { step: 'deliver' };
    case 'failed':
      return { step: 'settle', failure: 'supplier_failed' };
  }
}

/**
 * True when the service has it already, or an answer about it that could not be read: to send it again would say no
 * more.
 */
export function isNeverResent(failure: FailureClass): boolean {
  return failure === 'key_or_reference_known' || failure === 'contract_drift';
}

function afterUnknown(
  outcome: Extract<SendOutcome, { kind: 'failure' }>,
  history: AttemptHistory,
  policy: PurchasePolicy,
  now: number,
): NextStep {
  const { failure } = outcome;
  const delayMs = Math.max(
    outcome.retryAfterMs ?? 0,
    backoffMs(policy.resendDelayMs, policy.resendDelayMaxMs, history.sends),
  );
  const mayResend = policy.resendAllowed && !isNeverResent(failure);
  if (mayResend && now + delayMs <= windowEnd(history, policy, now)) return { step: 'resend', failure, delayMs };
  return { step: 'look_up', failure };
}

/** Epoch milliseconds until when the same bytes may be sent again: what was refused before starts no window. */
function windowEnd({ firstUnrefusedSendAt }: AttemptHistory, { resendWindowMs }: PurchasePolicy, now: number): number {
  return (firstUnrefusedSendAt ?? now) + resendWindowMs;
}

/** What reading the wallet showed for an attempt that the service reports as failed. */
export type DebitEvidence =
  /** The transactions cover the time of the attempt and hold no debit for it. */
  | 'no_debit'
  /** There is a debit and a credit of the same amount. */
  | 'credited'
  /** There is a debit and no credit (yet). */
  | 'debited'
  /** The wallet cannot be read, or not far enough back. */
  | 'unavailable';

/** True when the evidence says that a failed attempt cost nothing, or that its money came back. */
export function costNothing(evidence: DebitEvidence): boolean {
  return evidence === 'no_debit' || evidence === 'credited';
}

/**
 * How it goes on while the evidence does not say that a failed attempt cost nothing (rule 3 of the design): debits and
 * credits may show late, so the wallet is read a few times before a person is told.
 *
 * @param reads how often the wallet was read for this attempt, this read included.
 */
export function decideSettlement(reads: number, policy: Pick<PurchasePolicy, 'settleReads'>): 'read_again' | 'park' {
  return reads < policy.settleReads ? 'read_again' : 'park';
}
