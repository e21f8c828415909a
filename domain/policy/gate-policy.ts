/** See `docs/adr/0010-purchase-gate.md`. */
import {
  A_SECOND,
  amount,
  count,
  duration,
  FIRST_WAIT,
  MINUTE,
  SECOND,
  TIMER,
  type Values,
} from '#domain/policy/settings.ts';

export const GATE_SETTINGS = {
  spendLimit: amount(
    'gate.spend_limit',
    'The most that all API keys together spend in a day (UTC), such as `500.00 USD`; purchases above it are held. ' +
      '`reseller keys limit` sets the limit of one key.',
  ),
  /** Other systems may use the wallet too. */
  balanceAgeMs: duration('gate.balance_age', MINUTE, 'Maximum age of a wallet reading that money is reserved against.'),
  /** A thousand held orders do not cause a thousand reads. */
  balanceTrustMs: duration(
    'gate.balance_trust',
    5 * SECOND,
    'How long an insufficient wallet reading is used before the wallet is read again.',
  ),
  priceAgeMs: duration(
    'gate.price_age',
    5 * MINUTE,
    'Maximum age of a price used for a reservation. A `max_price` is always checked against a price that is read for ' +
      'it.',
  ),
  /** A debit may appear in the balance this late; until then its reservation counts. Set to `settleDelayMs`. */
  debitShowsAfterMs: 30 * SECOND,
  /** Three in a row are hardly a coincidence. */
  circuitFailures: count(
    'gate.circuit_failures',
    3,
    [1, 1_000],
    'Failures in a row, over all work, after which purchases are held without a call; `not_approved` needs one.',
  ),
  /** Spread by a fifth. */
  probeDelayMs: duration(
    'gate.circuit_probe_delay',
    5 * SECOND,
    'First wait before one held purchase, the canary, is sent; doubled each time.',
    FIRST_WAIT,
  ),
  /** The end of an outage is noticed within this time. */
  probeDelayMaxMs: duration('gate.circuit_probe_delay_max', 2 * MINUTE, 'Longest such wait.'),
  /** A canary without a result after this time counts as lost: it is woken, reads a price and sends within it. */
  canaryLeaseMs: 90 * SECOND,
  /**
   * An open circuit closes on trial when a canary has been due for this long and no work could be one. Longer than the
   * longest wait for a canary, so that an outage does not look like idle time.
   */
  circuitIdleMs: 5 * MINUTE,
  releasesPerSecond: count(
    'gate.releases_per_second',
    5,
    [1, 1_000],
    'How many held purchases a second continue after the cause of the hold ended.',
  ),
  tickMs: duration('gate.tick', SECOND, 'How often the purchase gate checks which work it can release.', TIMER),
  recheckMs: duration(
    'gate.recheck',
    10 * MINUTE,
    'Held work checks the gate itself after this time if nothing wakes it, for example after a restore of Temporal.',
    A_SECOND,
  ),
  /** About ten calls each. */
  firstPurchaseCheckMs: duration(
    'gate.first_purchase_check_every',
    3 * MINUTE,
    'How often the service is checked while purchases in production are held before the first purchase check.',
    TIMER,
  ),
  lowBalance: amount(
    'wallet.low_balance',
    'A balance below this, such as `50.00 EUR`, is announced once, by event, log and the metric ' +
      '`reseller_wallet_low`. The balance is read for purchases and with each comparison of the books.',
  ),
  /** Drift is a delivery that is missing for this long, or for `unfilledShare` times the longest fill seen. */
  unfilledMs: 5 * MINUTE,
  /** A fill that is a little slower than all before is no drift. */
  unfilledShare: 2,
  /** A canary without a result for this long lets one other purchase go. */
  driftCanaryMs: 10 * MINUTE,
  /** Each may be money without a delivery. */
  driftCanaries: 3,
};

export type GatePolicy = Values<typeof GATE_SETTINGS>;
