/** Times and limits of a purchase, from the first send to its end. A workflow gets its copy in its input. */
import { DEFAULT_WORKFLOW_POLICY, type WorkflowPolicy } from '#domain/policy/workflow-policy.ts';
import type { RetrySettings } from '#domain/work/retry-rules.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** Durations are in milliseconds. When what failed is tried again stands in {@link RetrySettings}, and how workflows
 * wait in {@link WorkflowPolicy}. */
export interface PurchasePolicy extends RetrySettings, WorkflowPolicy {
  /** Total deadline of one HTTP send. Long enough for a service that buys from a supplier while we wait. */
  readonly sendDeadlineMs: number;
  /**
   * How long the database grants one send the sole right to an attempt. More than `sendDeadlineMs` by what lies between
   * the claim and the wire (a commit, a read, perhaps a login): nothing leaves whose deadline would not end before the
   * lease.
   */
  readonly sendLeaseMs: number;
  /** Start-to-close timeout of the sending activity: the price is read (one deadline), then sent (one lease). A lost
   * worker is noticed sooner, by its missing heartbeat; what it may still be sending, its lease guards. */
  readonly sendActivityTimeoutMs: number;
  /** May an attempt whose outcome is unknown be sent again with its key? False in production until an operator has
   * confirmed that the service replays keys. */
  readonly resendAllowed: boolean;
  /**
   * Since the first send of the attempt that was not definitely refused. The service does not state how long it keeps
   * keys; ten minutes is less than any retention we know of (a day at the usual payment services).
   */
  readonly resendWindowMs: number;
  /** First wait before the same bytes are sent again; doubled each time. */
  readonly resendDelayMs: number;
  readonly resendDelayMaxMs: number;
  /** How often the service is asked about an attempt of unknown outcome before it is parked; the reconciler asks on. */
  readonly lookUps: number;
  /**
   * How long work that the service has accepted may stay without a word of its end. Then it is asked for, and what the
   * service cannot say is for a person. Suppliers take minutes, and the reconciler asks all the while where it can: a
   * week without an end is no delay any more. The same for a VPN subscription whose end, or whose accepted
   * cancellation, it does not tell.
   */
  readonly silentDeadlineMs: number;
  /** How long the delivery of a bought eSIM is tried before a person is told. */
  readonly deliveryDeadlineMs: number;
  /** How long after an explicit failure the wallet is read as evidence: debits may show late. */
  readonly settleDelayMs: number;
  /** How often the wallet is read before a failure without evidence is parked. */
  readonly settleReads: number;
  /**
   * How long the refund of a cancelled eSIM is waited for before a person is told. A person may review it at the
   * service, which takes days; after two weeks nobody is at it any more.
   */
  readonly refundDeadlineMs: number;
  /** The same where the caller accepted that none may come. Events come in any order, seconds apart. */
  readonly refundGraceMs: number;
  /**
   * How long an accepted cancellation of a VPN subscription is waited for before the service is asked; doubled each
   * time. Its event takes seconds, and is lost now and then. So it is with a question how one stands that was not
   * answered.
   */
  readonly cancelCheckMs: number;
  readonly cancelCheckMaxMs: number;
  /** The service may tell of the end of a VPN subscription a little late; only then is it asked. */
  readonly expiryGraceMs: number;
  /** How often the state of a VPN subscription is read whose end nobody named: there is nothing else to wait for. */
  readonly unknownExpiryCheckMs: number;
}

/** A quarter: by then the books of the service are closed. */
export const MAX_REFUND_DEADLINE_MS = 92 * 24 * hour;

/** With less between the deadline of a send and the end of its lease, a busy machine would hardly get anything sent. */
export const MIN_SEND_MARGIN_MS = second;

/** @returns what is inconsistent about a purchase policy, in words; empty when it is sound. */
export function purchasePolicyProblems(policy: PurchasePolicy): string[] {
  const problems: string[] = [];
  if (policy.sendDeadlineMs + MIN_SEND_MARGIN_MS > policy.sendLeaseMs) {
    problems.push('sendDeadlineMs must be below sendLeaseMs, by a second at least');
  }
  if (policy.sendDeadlineMs + policy.sendLeaseMs > policy.sendActivityTimeoutMs) {
    problems.push('sendActivityTimeoutMs must be at least sendDeadlineMs and sendLeaseMs together');
  }
  if (policy.maxAttempts < 1) problems.push('maxAttempts must be at least 1');
  return problems;
}

export const PURCHASE_POLICY: PurchasePolicy = {
  sendDeadlineMs: 20 * second,
  sendLeaseMs: 30 * second,
  sendActivityTimeoutMs: minute,
  resendAllowed: true,
  resendWindowMs: 10 * minute,
  resendDelayMs: 2 * second,
  resendDelayMaxMs: 2 * minute,
  holdDelayMs: 15 * second,
  holdDelayMaxMs: 10 * minute,
  holdDeadlineMs: 24 * hour,
  lookUps: 3,
  silentDeadlineMs: 7 * 24 * hour,
  deliveryDeadlineMs: hour,
  settleDelayMs: 30 * second,
  settleReads: 5,
  refundDeadlineMs: 14 * 24 * hour,
  refundGraceMs: 10 * minute,
  cancelCheckMs: minute,
  cancelCheckMaxMs: hour,
  expiryGraceMs: 10 * minute,
  unknownExpiryCheckMs: 24 * hour,
  ...DEFAULT_WORKFLOW_POLICY,
  maxAttempts: 3,
  attemptDelayMs: 30 * second,
};
