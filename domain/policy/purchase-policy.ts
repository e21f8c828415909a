import { A_SECOND, DAY, duration, FIRST_WAIT, HOUR, MINUTE, SECOND, TIMER, valuesOf } from '#domain/policy/settings.ts';
import { RETRY_SETTINGS } from '#domain/retry/retry-rules.ts';
import type { FailureClass } from '#domain/work/failure.ts';

/** Least margin between the deadline of a send and its lease. A busy machine needs it to send at all. */
export const MIN_SEND_MARGIN_MS = SECOND;

export const PURCHASE_SETTINGS = {
  /** Long enough for a service that buys from a supplier while we wait. */
  sendDeadlineMs: duration('purchase.send_deadline', 20 * SECOND, 'Total time for one HTTP send of a purchase.', TIMER),
  /** Between claim and request are a commit, a read, perhaps a login. A request only leaves if it ends in the lease. */
  sendLeaseMs: duration(
    'purchase.send_lease',
    30 * SECOND,
    'How long one send has the exclusive right to its attempt, by the clock of the database. At least a second more ' +
      'than send_deadline, for the time between the claim and the request.',
    { max: TIMER.max },
  ),
  /** One deadline to read the price, then one lease. */
  sendActivityTimeoutMs: duration(
    'purchase.send_activity_timeout',
    MINUTE,
    'How long Temporal waits for a send. At least send_deadline and send_lease together.',
  ),
  /** False in production until an operator has confirmed that the service replays keys. */
  resendAllowed: true,
  /** The service does not state how long it keeps keys. Usual payment services keep them for a day. */
  resendWindowMs: duration(
    'purchase.resend_window',
    10 * MINUTE,
    'How long the same bytes may be sent again, counted from the first send that was not refused.',
  ),
  resendDelayMs: duration(
    'purchase.resend_delay',
    2 * SECOND,
    'First wait before a resend; doubled each time.',
    FIRST_WAIT,
  ),
  resendDelayMaxMs: 2 * MINUTE,
  /** Look-ups before a case opens. The reconciler continues to look it up. */
  lookUps: 3,
  /** Debits may appear late. */
  settleDelayMs: duration(
    'purchase.settle_delay',
    30 * SECOND,
    'Least wait after an explicit failure before the wallet is read.',
  ),
  /** No known service takes longer than some minutes to list a debit. */
  unseenDebitDelayMs: duration(
    'purchase.unseen_debit_delay',
    10 * MINUTE,
    'The same while no debit of this kind was seen to appear in the wallet. Afterwards twice the longest time seen ' +
      'counts, if it is longer than settle_delay.',
  ),
  /** Reads before a debit without its credit, or a wallet without an answer, becomes a case. */
  settleReads: 5,
  /** Doubled each time. */
  evidenceAgainMs: 30 * SECOND,
  /** Another purchase, whose debit may be the proof, comes at any time. */
  evidenceAgainMaxMs: MINUTE,
  /** A busy wallet shows the proof in minutes. */
  evidenceDeadlineMs: duration(
    'purchase.evidence_deadline',
    HOUR,
    'How long a failed purchase waits for the proof that it cost nothing before a case opens. It is judged again ' +
      'after that, too.',
  ),
  /** Some suppliers fill the eSIM or the access data minutes after they call the purchase completed. */
  deliveryDeadlineMs: duration(
    'purchase.delivery_deadline',
    HOUR,
    'How long the eSIM or the access data of a completed purchase are read without success before a case opens; they ' +
      'are read again after that.',
    A_SECOND,
  ),
  lookUpAgainMs: duration(
    'purchase.look_up_again',
    MINUTE,
    'First wait before a look-up without an answer is repeated; doubled each time.',
    FIRST_WAIT,
  ),
  /** A thousand pieces of work together make about one look-up a second. */
  lookUpAgainMaxMs: duration(
    'purchase.look_up_again_max',
    15 * MINUTE,
    'Longest such wait: the end of an outage is detected within it.',
  ),
  /** The relay judges within milliseconds; the row of a relay that died is free after its lease. */
  blockedRetryMs: duration(
    'purchase.blocked_retry',
    5 * SECOND,
    'First wait for a report of the service that is not processed yet; doubled each time.',
    FIRST_WAIT,
  ),
  /** A day of such waits is still a short history. */
  blockedRetryMaxMs: duration(
    'purchase.blocked_retry_max',
    5 * MINUTE,
    'Longest such wait, and the longest wait before a send that could not begin is tried again.',
  ),
  /** Longer than a deployment or a restart of PostgreSQL. */
  stalledAfterMs: duration(
    'purchase.stalled_after',
    15 * MINUTE,
    'How long work may stand still because of our own system before a case `stalled` opens.',
  ),
  missingRowCheckMs: duration(
    'purchase.missing_row_check',
    MINUTE,
    'First wait of a workflow whose row PostgreSQL has lost, before it looks for the row again; doubled each time.',
    FIRST_WAIT,
  ),
  /** The row returns when its caller repeats the request or a backup is restored: after hours. */
  missingRowCheckMaxMs: duration('purchase.missing_row_check_max', HOUR, 'Longest such wait.'),
  /** Most suppliers have finished within an hour, and no list that lags behind lags so long. */
  deniedAfterMs: duration(
    'purchase.denied_after',
    HOUR,
    'When accepted work without a report is first looked up by its workflow; doubled for each further look-up. If ' +
      'the service does not know it then, neither by its id nor in a complete list, a case opens.',
    FIRST_WAIT,
  ),
  /** Suppliers take minutes, and the reconciler looks work up all the time: after a week it is no delay any more. */
  silentDeadlineMs: duration(
    'purchase.silent_deadline',
    7 * DAY,
    'Time without a report of its end after which accepted work needs attention, if it cannot be looked up at the ' +
      'service. The same applies to a VPN subscription whose end, or accepted cancellation, the service does not ' +
      'report.',
  ),
  /** The server ends a workflow at 51,200 events. No step between two checks adds as many events again. */
  historyLimit: 1_000,
  ...RETRY_SETTINGS,
  /** A review by a person at the service takes days; after two weeks it was probably forgotten. */
  refundDeadlineMs: duration(
    'cancellation.refund_deadline',
    14 * DAY,
    'How long a cancellation waits for its refund before a case opens.',
    // A quarter: by then the books of the service are closed.
    { max: 92 * DAY },
  ),
  /** Events arrive in any order, seconds apart. */
  refundGraceMs: duration(
    'cancellation.refund_grace',
    10 * MINUTE,
    'The same if the caller accepted that no refund comes.',
  ),
  /** The event of a cancellation takes seconds and may be lost. */
  cancelCheckMs: duration(
    'vpn_subscription.cancel_check',
    MINUTE,
    'First wait after an accepted cancellation before the subscription is looked up; doubled each time, up to an ' +
      'hour. The same waits follow a look-up that the service did not answer.',
    FIRST_WAIT,
  ),
  cancelCheckMaxMs: HOUR,
  /** The service may report the end late. */
  expiryGraceMs: duration(
    'vpn_subscription.expiry_grace',
    10 * MINUTE,
    'Wait after the end of a subscription’s time before it is looked up.',
  ),
  /** A subscription without a known end: there is no other sign to wait for. */
  unknownExpiryCheckMs: DAY,
};

export const PURCHASE_POLICY = valuesOf(PURCHASE_SETTINGS);
export type PurchasePolicy = typeof PURCHASE_POLICY;

/** The service did not answer now. */
const PASSING: ReadonlySet<FailureClass> = new Set([
  'not_sent',
  'service_down',
  'timeout',
  'connection_lost',
  'server_error',
  'unreadable_answer',
  'rate_limited',
  'unauthorized',
  'not_approved',
  'worker_lost',
]);

/** Any other failure is an answer that does not help, or shows that the service has no such call. */
export function isLookUpRetried(failure: FailureClass): boolean {
  return PASSING.has(failure);
}
