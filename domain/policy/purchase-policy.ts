/** Times and limits of a purchase, from the first send to its end. A workflow gets its copy in its input. */
import { DEFAULT_WORKFLOW_POLICY, type WorkflowPolicy } from '#domain/policy/workflow-policy.ts';
import type { RetrySettings } from '#domain/retry/retry-rules.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/**
 * Durations are in milliseconds. {@link RetrySettings} says when a failure is retried, {@link WorkflowPolicy} how
 * workflows wait.
 */
export interface PurchasePolicy extends RetrySettings, WorkflowPolicy {
  /** Total deadline of one HTTP send. Long enough for a service that buys from a supplier while we wait. */
  readonly sendDeadlineMs: number;
  /**
   * How long the database grants one send the sole right to an attempt. Longer than `sendDeadlineMs` by the time
   * between claim and request (a commit, a read, perhaps a login): a request only leaves when its deadline ends before
   * the lease.
   */
  readonly sendLeaseMs: number;
  /**
   * Start-to-close timeout of the sending activity: one deadline to read the price, then one lease. The missing
   * heartbeat shows a lost worker sooner; the lease guards what that worker may still be sending.
   */
  readonly sendActivityTimeoutMs: number;
  /**
   * Whether an attempt with an unknown result may be sent again with its key. False in production until an operator has
   * confirmed that the service replays keys.
   */
  readonly resendAllowed: boolean;
  /**
   * How long an attempt may be sent again, from its first send that was not definitely refused. The service does not
   * state how long it keeps keys. Ten minutes is less than any retention that we know of (a day at the usual payment
   * services).
   */
  readonly resendWindowMs: number;
  /** First wait before the same bytes are sent again; doubled each time. */
  readonly resendDelayMs: number;
  readonly resendDelayMaxMs: number;
  /** Look-ups of an attempt with an unknown result before a case opens. The reconciler continues to look it up. */
  readonly lookUps: number;
  /**
   * How long work that the service has accepted may stay without a report of its end. Then it is looked up, and if the
   * look-up gives no answer a case opens. Suppliers take minutes, and the reconciler looks it up all the time: after a
   * week it is no delay any more. The same holds for a VPN subscription whose end or accepted cancellation is not
   * reported.
   */
  readonly silentDeadlineMs: number;
  /**
   * When accepted work without a report is first looked up by its own workflow; doubled for each further look-up. Work
   * that the service denies then, by its id and in a complete list, becomes a case: most suppliers have finished within
   * an hour, and no list that lags behind lags so long.
   */
  readonly deniedAfterMs: number;
  /**
   * How long the delivery of a bought purchase is read before a case opens: its eSIM, its access data. Some suppliers
   * fill them minutes after they call the purchase completed.
   */
  readonly deliveryDeadlineMs: number;
  /** Least wait between a reported failure and the first read of the wallet: debits may appear late. */
  readonly settleDelayMs: number;
  /**
   * The same while no debit of this kind was seen to appear. Once one was, twice the longest time seen counts. No known
   * service takes longer than some minutes to list a debit.
   */
  readonly unseenDebitDelayMs: number;
  /** Reads of the wallet before a debit without its credit, or a wallet without an answer, becomes a case. */
  readonly settleReads: number;
  /** First wait before the wallet is read again while nothing proves what a failed attempt cost; doubled each time. */
  readonly evidenceAgainMs: number;
  /** Longest such wait: another purchase, whose debit may be the proof, comes at any time. */
  readonly evidenceAgainMaxMs: number;
  /** How long such a proof is awaited before a case opens: a busy wallet shows it in minutes. */
  readonly evidenceDeadlineMs: number;
  /**
   * How long to wait for the refund of a cancelled eSIM before a case opens. A review by a person at the service takes
   * days; after two weeks it was probably forgotten.
   */
  readonly refundDeadlineMs: number;
  /** The same when the caller accepted that no refund may come. Events arrive in any order, seconds apart. */
  readonly refundGraceMs: number;
  /**
   * First wait before the accepted cancellation of a VPN subscription is looked up; doubled each time. Its event takes
   * seconds and may be lost. Also the wait after a look-up without an answer.
   */
  readonly cancelCheckMs: number;
  readonly cancelCheckMaxMs: number;
  /** Wait after the end of a VPN subscription before it is looked up: the service may report the end late. */
  readonly expiryGraceMs: number;
  /** How often a VPN subscription without a known end is read: there is no other sign to wait for. */
  readonly unknownExpiryCheckMs: number;
}

/** 92 days, a quarter: by then the books of the service are closed. */
export const MAX_REFUND_DEADLINE_MS = 92 * 24 * hour;

/** Least margin between the deadline of a send and its lease. A busy machine needs it to send at all. */
export const MIN_SEND_MARGIN_MS = second;

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
  // Longer than a day, so that work survives an outage of the service of a day.
  holdDeadlineMs: 48 * hour,
  lookUps: 3,
  silentDeadlineMs: 7 * 24 * hour,
  deniedAfterMs: hour,
  deliveryDeadlineMs: hour,
  settleDelayMs: 30 * second,
  unseenDebitDelayMs: 10 * minute,
  settleReads: 5,
  evidenceAgainMs: 30 * second,
  evidenceAgainMaxMs: minute,
  evidenceDeadlineMs: hour,
  refundDeadlineMs: 14 * 24 * hour,
  refundGraceMs: 10 * minute,
  cancelCheckMs: minute,
  cancelCheckMaxMs: hour,
  expiryGraceMs: 10 * minute,
  unknownExpiryCheckMs: 24 * hour,
  ...DEFAULT_WORKFLOW_POLICY,
  maxAttempts: 3,
  attemptDelayMs: 30 * second,
  // The shop can sell something else at once; a person could only order the same again.
  whenUsedUp: 'fail',
};
