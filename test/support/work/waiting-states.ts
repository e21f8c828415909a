/** All states in which work waits for a condition or a person. */
import type { OperatedAttempt } from '#domain/operator/operator-actions.ts';
import type { AttentionReason } from '#domain/work/attention.ts';
import { FAILURE_CLASSES, failureClasses, type FailureClass } from '#domain/work/failure.ts';
import { KINDS, WORK_KINDS, type WorkKind } from '#domain/work/kinds.ts';

/** The failure classes that hold work, and that of the wait for a new attempt. */
export const holdReasons: readonly FailureClass[] = [
  ...failureClasses.filter((failure) => FAILURE_CLASSES[failure].disposition === 'hold'),
  'supplier_failed',
];

const UNKNOWN: OperatedAttempt = { state: 'unknown', settled: false };
const FAILED: OperatedAttempt = { state: 'failed', settled: false };
const COMPLETED: OperatedAttempt = { state: 'completed', settled: false };
const PROCESSING: OperatedAttempt = { state: 'processing', settled: false };

/** The attempt with which each case is open while its work waits. */
const ATTEMPTS: Readonly<Record<Exclude<AttentionReason, 'webhook_conflict'>, readonly OperatedAttempt[]>> = {
  outcome_unknown: [UNKNOWN, PROCESSING],
  service_not_answering: [UNKNOWN],
  records_lost: [UNKNOWN],
  failed_but_charged: [FAILED],
  evidence_unavailable: [FAILED],
  attempts_used_up: [{ state: 'failed', settled: true }],
  stalled: [{ state: 'prepared', settled: false }, FAILED],
  contradiction: [COMPLETED, FAILED, UNKNOWN],
  contract_drift: [COMPLETED],
  delivery_unavailable: [COMPLETED],
  iccid_unreadable: [COMPLETED],
  charged_above_limit: [COMPLETED],
  debited_twice: [COMPLETED],
  charge_not_refunded: [COMPLETED],
  amount_differs: [COMPLETED],
  movement_missing: [COMPLETED],
  message_quarantined: [PROCESSING],
  cancellation_refused: [COMPLETED],
  refund_failed: [PROCESSING, COMPLETED],
  refund_missing: [PROCESSING],
};

const ONLY: Partial<Record<AttentionReason, readonly WorkKind[]>> = {
  cancellation_refused: ['vpn_subscription'],
  refund_failed: ['cancellation'],
  refund_missing: ['cancellation'],
  failed_but_charged: WORK_KINDS.filter((kind) => KINDS[kind].isPurchase),
  evidence_unavailable: WORK_KINDS.filter((kind) => KINDS[kind].isPurchase),
};

/** Kind of work, reason of its case, and its attempt. */
export const waitingStates: readonly (readonly [WorkKind, keyof typeof ATTEMPTS, OperatedAttempt])[] = (
  Object.keys(ATTEMPTS) as (keyof typeof ATTEMPTS)[]
).flatMap((reason) =>
  (ONLY[reason] ?? WORK_KINDS).flatMap((kind) => ATTEMPTS[reason].map((attempt) => [kind, reason, attempt] as const)),
);
