/** Settings of the policy file about purchases. Each group is a name in the file. */
import * as z from 'zod';
import {
  A_SECOND,
  amount,
  duration,
  durations,
  FIRST_WAIT,
  shares,
  TIMER,
  wholeNumber,
} from '#config/policy/fields.ts';
import { retryRules } from '#config/policy/retry-rules.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { MAX_REFUND_DEADLINE_MS } from '#domain/policy/purchase-policy.ts';
import { RETRY_BOUNDS, WHEN_USED_UP } from '#domain/retry/retry-rules.ts';

const { gate: GATE, purchase: PURCHASE, runway: RUNWAY, watch: WATCH } = DEFAULT_POLICY;
const { attempts: ATTEMPTS } = RETRY_BOUNDS;

/** `purchase`: sending, waiting for the service, delivering. */
export const purchaseSettings = {
  send_deadline: duration(PURCHASE.sendDeadlineMs, 'Total time for one HTTP send of a purchase.', TIMER),
  send_lease: duration(
    PURCHASE.sendLeaseMs,
    'How long one send has the exclusive right to its attempt, by the clock of the database. At least a second more ' +
      'than send_deadline, for the time between the claim and the request.',
    { max: TIMER.max },
  ),
  send_activity_timeout: duration(
    PURCHASE.sendActivityTimeoutMs,
    'How long Temporal waits for a send. At least send_deadline and send_lease together.',
  ),
  resend_window: duration(
    PURCHASE.resendWindowMs,
    'How long the same bytes may be sent again, counted from the first send that was not refused.',
  ),
  resend_delay: duration(PURCHASE.resendDelayMs, 'First wait before a resend; doubled each time.', FIRST_WAIT),
  settle_delay: duration(PURCHASE.settleDelayMs, 'Least wait after an explicit failure before the wallet is read.'),
  unseen_debit_delay: duration(
    PURCHASE.unseenDebitDelayMs,
    'The same while no debit of this kind was seen to appear in the wallet. Afterwards twice the longest time seen ' +
      'counts, if it is longer than settle_delay.',
  ),
  evidence_deadline: duration(
    PURCHASE.evidenceDeadlineMs,
    'How long a failed purchase waits for the proof that it cost nothing before a case opens. It is judged again ' +
      'after that, too.',
  ),
  delivery_deadline: duration(
    PURCHASE.deliveryDeadlineMs,
    'How long the eSIM or the access data of a completed purchase are read without success before a case opens; they ' +
      'are read again after that.',
    A_SECOND,
  ),
  look_up_again: duration(
    PURCHASE.lookUpAgainMs,
    'First wait before a look-up without an answer is repeated; doubled each time.',
    FIRST_WAIT,
  ),
  look_up_again_max: duration(
    PURCHASE.lookUpAgainMaxMs,
    'Longest such wait: the end of an outage is detected within it.',
  ),
  blocked_retry: duration(
    PURCHASE.blockedRetryMs,
    'First wait for a report of the service that is not processed yet; doubled each time.',
    FIRST_WAIT,
  ),
  blocked_retry_max: duration(
    PURCHASE.blockedRetryMaxMs,
    'Longest such wait, and the longest wait before a send that could not begin is tried again.',
  ),
  stalled_after: duration(
    PURCHASE.stalledAfterMs,
    'How long work may stand still because of our own system before a case `stalled` opens.',
  ),
  missing_row_check: duration(
    PURCHASE.missingRowCheckMs,
    'First wait of a workflow whose row PostgreSQL has lost, before it looks for the row again; doubled each time.',
    FIRST_WAIT,
  ),
  missing_row_check_max: duration(PURCHASE.missingRowCheckMaxMs, 'Longest such wait.'),
  denied_after: duration(
    PURCHASE.deniedAfterMs,
    'When accepted work without a report is first looked up by its workflow; doubled for each further look-up. If ' +
      'the ' +
      'service does not know it then, neither by its id nor in a complete list, a case opens.',
    FIRST_WAIT,
  ),
  silent_deadline: duration(
    PURCHASE.silentDeadlineMs,
    'Time without a report of its end after which accepted work needs attention, if it cannot be looked up at the ' +
      'service. The same applies to a VPN subscription whose end, or accepted cancellation, the service does not ' +
      'report.',
  ),
};

/** `retry`: failures that hold work, or allow a new attempt. */
export const retrySettings = {
  hold_delay: duration(
    PURCHASE.holdDelayMs,
    'First wait of held work; doubled each time, up to 10 minutes. Some failure classes wait a multiple of it.',
    FIRST_WAIT,
  ),
  hold_deadline: duration(
    PURCHASE.holdDeadlineMs,
    'How long work may be held when the caller named no deadline, and the latest deadline that a caller may name.',
  ),
  max_attempts: wholeNumber(
    PURCHASE.maxAttempts,
    [ATTEMPTS.min, ATTEMPTS.max],
    'Attempts to buy one order. Each further one needs the proof that those before cost nothing.',
  ),
  attempt_delay: duration(PURCHASE.attemptDelayMs, 'Wait before a new attempt; doubled each time.', FIRST_WAIT),
  when_attempts_are_used_up: z
    .enum(WHEN_USED_UP)
    .default(PURCHASE.whenUsedUp)
    .meta({
      description:
        'What follows when every attempt has failed and provably cost nothing: `fail` ends the purchase, `ask` opens ' +
        'a case for a person. A caller may choose the other for one purchase.',
    }),
  rules: retryRules(),
};

/** `cancellation`: cancellations of eSIMs with a refund. */
export const cancellationSettings = {
  refund_deadline: duration(
    PURCHASE.refundDeadlineMs,
    'How long a cancellation waits for its refund before a case opens.',
    { max: MAX_REFUND_DEADLINE_MS },
  ),
  refund_grace: duration(PURCHASE.refundGraceMs, 'The same if the caller accepted that no refund comes.'),
};

/** `vpn_subscription`: the life of a subscription after its purchase. */
export const vpnSubscriptionSettings = {
  cancel_check: duration(
    PURCHASE.cancelCheckMs,
    'First wait after an accepted cancellation before the subscription is looked up; doubled each time, up to an ' +
      'hour. The same waits follow a look-up that the service did not answer.',
    FIRST_WAIT,
  ),
  expiry_grace: duration(PURCHASE.expiryGraceMs, 'Wait after the end of a subscription’s time before it is looked up.'),
};

/** `gate`: the purchase gate. */
export const gateSettings = {
  spend_limit: amount(
    'The most that all API keys together spend in a day (UTC), such as `500.00 USD`; purchases above it are held. ' +
      '`reseller keys limit` sets the limit of one key.',
  ),
  balance_age: duration(GATE.balanceAgeMs, 'Maximum age of a wallet reading that money is reserved against.'),
  balance_trust: duration(
    GATE.balanceTrustMs,
    'How long an insufficient wallet reading is used before the wallet is read again.',
  ),
  price_age: duration(
    GATE.priceAgeMs,
    'Maximum age of a price used for a reservation. A `max_price` is always checked against a price that is read for ' +
      'it.',
  ),
  circuit_failures: wholeNumber(
    GATE.circuitFailures,
    [1, 1_000],
    'Failures in a row, over all work, after which purchases are held without a call; `not_approved` needs one.',
  ),
  circuit_probe_delay: duration(
    GATE.probeDelayMs,
    'First wait before one held purchase, the canary, is sent; doubled each time.',
    FIRST_WAIT,
  ),
  circuit_probe_delay_max: duration(GATE.probeDelayMaxMs, 'Longest such wait.'),
  releases_per_second: wholeNumber(
    GATE.releasesPerSecond,
    [1, 1_000],
    'How many held purchases a second continue after the cause of the hold ended.',
  ),
  tick: duration(GATE.tickMs, 'How often the purchase gate checks which work it can release.', TIMER),
  recheck: duration(
    GATE.recheckMs,
    'Held work checks the gate itself after this time if nothing wakes it, for example after a restore of Temporal.',
    A_SECOND,
  ),
  first_purchase_check_every: duration(
    GATE.firstPurchaseCheckMs,
    'How often the service is checked while purchases in production are held before the first purchase check.',
    TIMER,
  ),
};

/** `wallet`: announcements about its balance. */
export const walletSettings = {
  low_balance: amount(
    'A balance below this, such as `50.00 EUR`, is announced once, by event, log and the metric ' +
      '`reseller_wallet_low`. The balance is read for purchases and with each comparison of the books.',
  ),
  runway_low: duration(
    RUNWAY.lowMs,
    'If the wallet will be empty before this time at the rate of recent sales, this is announced once.',
  ),
  runway_window_days: wholeNumber(RUNWAY.windowDays, [1, 92], 'Days of sales used for this calculation.'),
};

/** `watch`: eSIMs and subscriptions that run out. */
export const watchSettings = {
  every: duration(
    WATCH.everyMs,
    'How often eSIMs and subscriptions are checked for use, low data and coming expiry.',
    A_SECOND,
  ),
  usage_reads: wholeNumber(
    WATCH.readsPerRun,
    [0, 10_000],
    'Calls to the service in one such run; with 0 only coming expiry is announced.',
  ),
  usage_age: duration(WATCH.againAfterMs, 'Age at which the reading of an active eSIM is repeated.'),
  data_low: shares(WATCH.dataLow, 'Remaining data at or below one of these shares is announced; `[]` for none.'),
  expiring: durations(
    WATCH.expiringMs,
    'An eSIM or subscription that ends within one of these is announced; `[]` for none.',
  ),
};
