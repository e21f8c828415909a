/** Times and limits of the purchase gate; see `docs/adr/0010-purchase-gate.md`. */
import type { Money } from '#domain/money/money.ts';

const second = 1_000;
const minute = 60 * second;

export interface GatePolicy {
  /** A balance older than this is read again before a reservation. Other systems may use the wallet too. */
  readonly balanceAgeMs: number;
  /**
   * A balance that does not suffice is trusted for this long, so that a thousand held orders do not cause a thousand
   * reads.
   */
  readonly balanceTrustMs: number;
  /**
   * How long a known price is used for reservations and daily limits. A caller's price limit is always checked against
   * a price that was read for that purchase.
   */
  readonly priceAgeMs: number;
  /** A debit may appear in the balance this late; until then its reservation counts. As long as `settleDelayMs`. */
  readonly debitShowsAfterMs: number;
  /** Daily limit (UTC) for all keys together; undefined: no limit. */
  readonly spendLimit: Money | undefined;
  /** A lower balance is announced, in the currency of the wallet; undefined: never. */
  readonly lowBalance: Money | undefined;
  /**
   * Failures in a row, over all work, after which a circuit opens. Three in a row are hardly a coincidence.
   * `not_approved` needs one.
   */
  readonly circuitFailures: number;
  /** First wait before a canary passes an open circuit; doubled each time, and spread by a fifth. */
  readonly probeDelayMs: number;
  /** Longest such wait: the end of an outage is noticed within this time. */
  readonly probeDelayMaxMs: number;
  /**
   * A canary without a result after this time counts as lost. Within it the canary is woken, reads a price and sends.
   */
  readonly canaryLeaseMs: number;
  /**
   * An open circuit closes on trial when a canary has been due for this long and no work could be one. Without this
   * rule the circuit and its alert would stay until the next purchase. Longer than the longest wait for a canary, so
   * that an outage does not look like idle time.
   */
  readonly circuitIdleMs: number;
  /** Held purchases released per second after a hold ends. */
  readonly releasesPerSecond: number;
  /** How often the gate checks what it can release. */
  readonly tickMs: number;
  /** Held work asks the gate again after this time, in case it was never woken. */
  readonly recheckMs: number;
  /**
   * A bought purchase whose delivery is not there counts as drift after this time, or after `unfilledShare` times the
   * longest fill seen, if that is longer. Services that fill a purchase later need seconds to minutes.
   */
  readonly unfilledMs: number;
  /** Twice the longest fill seen: a fill that is a little slower than all before is no drift. */
  readonly unfilledShare: number;
  /** A canary of the drift stop without a result for this long lets one other purchase go. */
  readonly driftCanaryMs: number;
  /** Most such canaries without a result: each may be money without a delivery. */
  readonly driftCanaries: number;
  /** How often the service is checked while purchases wait for the first purchase check: about ten calls each. */
  readonly firstPurchaseCheckMs: number;
}

export const GATE_POLICY: GatePolicy = {
  balanceAgeMs: minute,
  balanceTrustMs: 5 * second,
  priceAgeMs: 5 * minute,
  debitShowsAfterMs: 30 * second,
  spendLimit: undefined,
  lowBalance: undefined,
  circuitFailures: 3,
  probeDelayMs: 5 * second,
  probeDelayMaxMs: 2 * minute,
  canaryLeaseMs: 90 * second,
  circuitIdleMs: 5 * minute,
  releasesPerSecond: 5,
  tickMs: second,
  recheckMs: 10 * minute,
  unfilledMs: 5 * minute,
  unfilledShare: 2,
  driftCanaryMs: 10 * minute,
  driftCanaries: 3,
  firstPurchaseCheckMs: 3 * minute,
};
