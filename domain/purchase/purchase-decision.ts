import type { PurchasePolicy } from '#domain/policy/purchase-policy.ts';
import { backoffMs } from '#domain/policy/settings.ts';
import type { ObservedOutcome } from '#domain/relay/observation.ts';
import { retryRule, ruleOfWork, type RetryOverrides } from '#domain/retry/retry-rules.ts';
import type { AttentionReason } from '#domain/work/attention.ts';
import { FAILURE_CLASSES, isDefinite, type FailureClass, type FailureEnd } from '#domain/work/failure.ts';

export type SendOutcome =
  | { readonly kind: 'accepted'; readonly outcome: ObservedOutcome }
  | { readonly kind: 'failure'; readonly failure: FailureClass; readonly retryAfterMs?: number }
  /** Nothing was sent. `recheckMs`: wait before it asks again, unless it is woken before. */
  | { readonly kind: 'gated'; readonly failure: FailureClass; readonly detail: string; readonly recheckMs: number }
  /** Another send of this attempt may be under way; nothing was sent. */
  | { readonly kind: 'lease_held'; readonly retryAfterMs: number };

/** Why an order may neither be bought nor fail now. `observations_pending`: a report has not been judged yet. */
export type BuyingBlock = 'contradiction' | 'observations_pending';

/**
 * `superseded`: a later workflow task has recorded a step. `not_compared`: PostgreSQL has started since the workflow
 * compared its knowledge with the row; commits may be lost. `may_be_bought`: it is not proven that the work cost
 * nothing. `judged`: a person has judged the contradiction. `changed`: the attempt has another state by now.
 */
export type RecordResult =
  | 'recorded'
  | 'superseded'
  | 'not_compared'
  | 'may_be_bought'
  | 'judged'
  | 'changed'
  | BuyingBlock
  | AttentionReason;

export interface AttemptHistory {
  /** Unix milliseconds. */
  readonly firstSentAt: number | undefined;
  /** First send that was not definitely refused, in Unix milliseconds; the resend window starts here. */
  readonly firstUnrefusedSendAt?: number | undefined;
  readonly sends: number;
  /** Holds in a row before this one; sets the back-off. */
  readonly holds: number;
  /** From then on a refusal proves nothing. */
  readonly anyUnknown: boolean;
}

export type NextStep =
  | { readonly step: 'send' }
  /** `isDenied`: at the last read the service did not know it any more. */
  | { readonly step: 'await_service'; readonly isDenied?: true }
  | { readonly step: 'deliver' }
  /** Read the wallet, then fail or make a new attempt. */
  | { readonly step: 'settle'; readonly failure: FailureClass }
  | {
      readonly step: 'fail';
      readonly failure: FailureClass;
      readonly detail?: string;
      readonly endedBy?: FailureEnd;
    }
  /**
   * `delayIsNamed`: the service named the delay, so no rule of ours shortens it. `isCounted`: the run before has begun
   * it.
   */
  | {
      readonly step: 'hold';
      readonly failure: FailureClass;
      readonly delayMs: number;
      readonly gated?: string;
      readonly delayIsNamed?: true;
      readonly isCounted?: true;
    }
  /** Send the same bytes again with the same key. */
  | { readonly step: 'resend'; readonly failure: FailureClass; readonly delayMs: number; readonly gated?: string }
  | { readonly step: 'look_up'; readonly failure: FailureClass }
  | { readonly step: 'wait_for_lease'; readonly delayMs: number };

/**
 * Rule 2 of docs/reference/rules.md. After an unknown send a refusal is no evidence: "balance too low" may be our own
 * first debit.
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
        return { step: 'hold', failure, delayMs: outcome.retryAfterMs, delayIsNamed: true };
      const { firstDelayMs, maxDelayMs } = ruleOfWork(retryRule(failure, policy), overrides);
      return { step: 'hold', failure, delayMs: backoffMs(firstDelayMs, maxDelayMs, history.holds + 1) };
    }
  }
}

/** If an earlier send may have bought, it is resent within its window, and looked up afterwards. */
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

/** A resend would show nothing new: the service has it already, or its answer could not be read. */
export function isNeverResent(failure: FailureClass): boolean {
  return failure === 'key_or_reference_used' || failure === 'contract_drift';
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

/** Refused sends before do not start a window. */
function windowEnd({ firstUnrefusedSendAt }: AttemptHistory, { resendWindowMs }: PurchasePolicy, now: number): number {
  return (firstUnrefusedSendAt ?? now) + resendWindowMs;
}

export type DebitEvidence =
  | 'no_debit'
  | 'credited'
  | 'debited'
  /** Nothing proves yet what it cost; a later reading may. */
  | 'awaited'
  | 'unavailable';

export function costNothing(evidence: DebitEvidence): boolean {
  return evidence === 'no_debit' || evidence === 'credited';
}

/** Rule 3. Debits and credits may appear late. @param reads reads of the wallet for this attempt, this one included. */
export function decideSettlement(
  reads: number,
  policy: Pick<PurchasePolicy, 'settleReads'>,
): 'read_again' | 'open_case' {
  return reads < policy.settleReads ? 'read_again' : 'open_case';
}
