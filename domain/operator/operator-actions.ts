/** Work that may have been bought is neither abandoned nor bought again unless the operator states the true result. */
import type { Money } from '#domain/money/money.ts';
import type { AttemptState } from '#domain/relay/observation.ts';
import {
  deadlineIsPossible,
  equalOverrides,
  type RetryChange,
  type RetryOverrides,
} from '#domain/retry/retry-rules.ts';
import type { AttentionReason } from '#domain/work/attention.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import { isFinal, type WorkStatus } from '#domain/work/lifecycle.ts';

export const CASE_VERDICTS = {
  bought: 'The service sold it, under the given id. It will be delivered.',
  not_bought: 'The service sold nothing and keeps no money for this attempt. It may be bought again.',
  refunded: 'The money of the cancelled eSIM is back in the wallet.',
  dismissed: 'There is nothing to correct. The work continues from its stored state.',
} as const;

export type CaseVerdict = keyof typeof CASE_VERDICTS;
export const caseVerdicts = Object.keys(CASE_VERDICTS) as readonly CaseVerdict[];

export const VERDICTS_OF = {
  outcome_unknown: ['bought', 'not_bought'],
  failed_but_charged: ['bought', 'not_bought'],
  evidence_unavailable: ['bought', 'not_bought'],
  records_lost: ['bought', 'not_bought'],
  service_not_answering: ['bought', 'not_bought'],
  // The cause is on our side: there is nothing to judge.
  stalled: [],
  // A retry grants another attempt, an abandonment ends it: there is nothing to judge.
  attempts_used_up: [],
  contradiction: ['bought', 'not_bought', 'dismissed'],
  contract_drift: ['bought', 'dismissed'],
  delivery_unavailable: ['bought', 'dismissed'],
  iccid_unreadable: ['dismissed'],
  charged_above_limit: ['dismissed'],
  // Cases of the books: the movements that the service makes later are matched when they come.
  debited_twice: ['dismissed'],
  charge_not_refunded: ['dismissed'],
  amount_differs: ['dismissed'],
  movement_missing: ['dismissed'],
  cancellation_refused: ['dismissed'],
  refund_failed: ['refunded', 'dismissed'],
  refund_missing: ['bought', 'not_bought', 'refunded', 'dismissed'],
  // Requeueing or dismissing the dead letter closes it.
  message_quarantined: [],
  webhook_conflict: ['dismissed'],
} as const satisfies Record<AttentionReason, readonly CaseVerdict[]>;

export type OperatorAction =
  | { readonly action: 'retry' }
  | { readonly action: 'release' }
  | { readonly action: 'abandon' }
  /** `maxPrice`: null for no limit. `priceCurrency`: undefined while the price is not known. */
  | { readonly action: 'change_limit'; readonly maxPrice: Money | null; readonly priceCurrency?: string }
  | { readonly action: 'change_retry'; readonly change: RetryChange }
  | {
      readonly action: 'resolve';
      readonly reason: AttentionReason;
      readonly verdict: CaseVerdict;
      readonly serviceId?: string;
      readonly serviceEsimId?: string;
      readonly next?: 'continue' | 'abandon';
    };

/** Characters. */
export const MAX_ACTION_REASON = 500;

export const SERVICE_ID = /^[\x21-\x7e]{1,128}$/;

export interface Operator {
  readonly actor: string;
  /** Never personal data of a customer. */
  readonly reason: string;
  /** The same action done twice has one effect. */
  readonly actionId: string;
}

export interface OperatedAttempt {
  readonly state: AttemptState;
  readonly settled: boolean;
}

export interface OperatedWork {
  readonly status: WorkStatus;
  readonly attempt: OperatedAttempt | undefined;
  readonly openContradiction: boolean;
  readonly observationsPending: boolean;
  readonly failure?: FailureClass | undefined;
  /** True until its workflow has compared its knowledge with the row after PostgreSQL was started or restored. */
  readonly awaitsComparison?: boolean;
}

export interface JudgedCase {
  readonly reason: AttentionReason;
  readonly attempt: OperatedAttempt | undefined;
  readonly laterAttempts: readonly OperatedAttempt[];
  readonly isCancelled?: boolean | undefined;
}

export const REFUSALS = {
  already_ended: 'It has ended, so no action is possible.',
  not_waiting: 'Only work that is held or needs attention can be retried; this work is in progress.',
  may_be_bought:
    'The service may have bought it or may keep money for it. First the service must report the outcome, or an ' +
    'operator must `resolve` it.',
  not_compared:
    'PostgreSQL was restarted or restored, and its workflow has not compared its memory with the stored row yet. ' +
    'The comparison is requested: try again in a moment.',
  wallet_not_read:
    'The wallet must show its cost before it is abandoned: set its `attempts` to the number already made, and ' +
    '`resolve` without `next`. It fails when the wallet shows that it cost nothing.',
  contradiction_open: 'The reports of the service contradict each other: `resolve` that case first.',
  service_says_bought: 'The service reports that it sold it. That report counts, and the delivery is in progress.',
  observations_pending:
    'A report of the service is being processed at this moment: look again in a few seconds. A report that is ' +
    'quarantined has a case `message_quarantined`: requeue or dismiss it first.',
  later_attempt_open:
    'A later attempt may be bought as well. With `dismissed` that attempt continues; ask the service to credit the ' +
    'other purchase.',
  case_not_open: 'No case with this reason is open for it.',
  verdict_not_possible: 'This verdict does not fit a case of this reason.',
  not_cancelled: 'It is not known whether the eSIM is cancelled: choose `bought` if it is, `not_bought` if it is not.',
  other_currency:
    'The limit is in another currency than the price, so it would allow no purchase: give it in the currency of ' +
    '`price_for_reseller`.',
  nothing_is_charged: 'A cancellation spends nothing: it has no limit, and no purchase gate holds it.',
  not_held:
    'Only held work can be released. This work is not held at the moment; work in progress continues by itself.',
  deadline_not_possible: 'The deadline must lie in the future, and 92 days ahead at most.',
  not_active: 'It is not active yet, so it cannot be cancelled. While nothing is bought, use `abandon`.',
  service_id_taken: 'The given id of the service belongs to another attempt: read the timeline of that attempt first.',
} as const;

export type Refusal = keyof typeof REFUSALS;

/** `unchanged`: it was done before; no error and no effect. */
export type ActionJudgement = 'allowed' | 'unchanged' | Refusal;

/** @param waking a retry was requested and its workflow was not woken yet. */
export function judgeRetry(work: OperatedWork, waking: boolean): ActionJudgement {
  if (isFinal(work.status)) return 'already_ended';
  if (work.openContradiction) return 'contradiction_open';
  if (waking) return 'unchanged';
  return work.status === 'held' || work.status === 'needs_attention' ? 'allowed' : 'not_waiting';
}

/** @param released it was released and has not passed yet. */
export function judgeRelease(work: OperatedWork, released: boolean): ActionJudgement {
  if (isFinal(work.status)) return 'already_ended';
  if (work.openContradiction) return 'contradiction_open';
  if (released) return 'unchanged';
  return work.status === 'held' ? 'allowed' : 'not_held';
}

/** Allowed only for work that provably bought nothing. */
export function judgeAbandon(work: OperatedWork): ActionJudgement {
  if (work.status === 'abandoned') return 'unchanged';
  if (isFinal(work.status)) return 'already_ended';
  if (work.openContradiction) return 'contradiction_open';
  if (work.observationsPending || mayHaveCost(work.attempt)) return 'may_be_bought';
  // The row may have lost a send.
  return work.awaitsComparison === true ? 'not_compared' : 'allowed';
}

/** A purchase that was made already stays as it is. @param isComparable false: limit and price differ in currency. */
export function judgeLimitChange(work: OperatedWork, same: boolean, isComparable = true): ActionJudgement {
  if (isFinal(work.status)) return 'already_ended';
  if (!isComparable) return 'other_currency';
  return same ? 'unchanged' : 'allowed';
}

/** A retry policy does not change what may be sent again at all. */
export function judgeRetryChange(
  work: OperatedWork,
  current: RetryOverrides,
  next: RetryOverrides,
  now: number,
): ActionJudgement {
  if (isFinal(work.status)) return 'already_ended';
  if (equalOverrides(current, next)) return 'unchanged';
  const { deadlineAt } = next;
  const isNew = deadlineAt !== undefined && deadlineAt !== current.deadlineAt;
  return isNew && !deadlineIsPossible(deadlineAt, now) ? 'deadline_not_possible' : 'allowed';
}

/** Cases may be open after the work has ended; the verdict then closes them and moves nothing. */
export function judgeResolve(
  work: Pick<OperatedWork, 'status' | 'observationsPending'>,
  { reason, attempt, laterAttempts, isCancelled }: JudgedCase,
  verdict: CaseVerdict,
): ActionJudgement {
  if (!(VERDICTS_OF[reason] as readonly CaseVerdict[]).includes(verdict)) return 'verdict_not_possible';
  const isOfRefund = reason === 'refund_failed' || reason === 'refund_missing';
  if (isOfRefund && (verdict === 'dismissed' || verdict === 'refunded') && isCancelled !== true) return 'not_cancelled';
  if (verdict === 'dismissed') return 'allowed';
  if (isFinal(work.status)) return 'already_ended';
  if (verdict === 'refunded') return 'allowed';
  // After a contradiction the reports of the service no longer decide: the operator's verdict counts.
  if (work.observationsPending && reason !== 'contradiction') return 'observations_pending';
  if (verdict === 'bought') return laterAttempts.some(mayHaveCost) ? 'later_attempt_open' : 'allowed';
  // A clear report of the service counts more than a verdict. `processing` says nothing about the end; for a purchase
  // the wallet is then read (`needsWallet`).
  const saysBought = attempt?.state === 'completed' || (attempt?.state === 'processing' && isCancelled === true);
  return saysBought && reason !== 'contradiction' ? 'service_says_bought' : 'allowed';
}

/**
 * The service may still finish the purchase: `not_bought` counts as a reported failure, and the wallet has to show that
 * it cost nothing before anything is bought again.
 */
export function needsWallet({ reason, attempt, isCancelled }: Omit<JudgedCase, 'laterAttempts'>): boolean {
  return attempt?.state === 'processing' && isCancelled === undefined && reason !== 'contradiction';
}

/** True unless it is certain that nothing was bought, or that the money was credited. */
export function mayHaveCost(attempt: OperatedAttempt | undefined): boolean {
  if (attempt === undefined) return false;
  switch (attempt.state) {
    case 'prepared':
    case 'refused':
      return false;
    case 'failed':
      return !attempt.settled;
    case 'sending':
    case 'unknown':
    case 'processing':
    case 'completed':
      return true;
  }
}
