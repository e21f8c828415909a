/** Times and limits of the purchase gate; see `docs/adr/0010-purchase-gate.md`. */
import type { Money } from '#domain/money/money.ts';

const second = 1_000;
const minute = 60 * second;

/** What the purchase gate goes by; see `docs/adr/0010-purchase-gate.md`. */
export interface GatePolicy {
  /** A reading of the wallet that is older is not reserved against: it is read anew. Others may use the wallet too. */
  readonly balanceAgeMs: number;
  /**
   * A reading that does not suffice is believed for this long, so that a thousand held orders are not a thousand reads.
   */
  readonly balanceTrustMs: number;
  /**
   * How long a price is taken as known where it only serves to reserve money and to count what is spent. A price limit
   * of the caller is always checked against a price that was read for it.
   */
  readonly priceAgeMs: number;
  /** A debit may show this late in the balance; until then its reservation is counted. As long as `settleDelayMs`. */
  readonly debitShowsAfterMs: number;
  /** The most that is spent in a day (UTC) by all keys together; undefined: no limit. */
  readonly spendLimit: Money | undefined;
  /** A balance below this is reported, in the currency of the wallet; undefined: none is. */
  readonly lowBalance: Money | undefined;
  /**
   * Failures in a row after which a condition is taken to concern the service as a whole. Three in a row, over all
   * work, are hardly three accidents. `not_approved` needs one.
   */
  readonly circuitFailures: number;
  /** First wait before a canary is let through an open circuit; doubled each time, and spread by a fifth. */
  readonly probeDelayMs: number;
  /** An outage that is over is noticed within this. */
  readonly probeDelayMaxMs: number;
  /** A canary that was not heard of for this long is given up: it is woken, reads a price and sends. */
  readonly canaryLeaseMs: number;
  /**
   * An open circuit whose canary has been due for this long, with no work that could be one, closes on trial: it would
   * stay open, and alert, until the next purchase. Longer than the longest wait for a canary, so that an outage is not
   * taken for an idle time.
   */
  readonly circuitIdleMs: number;
  /** How many held purchases a second go on once what held them is over. */
  readonly releasesPerSecond: number;
  /** How often the gate looks what it can let through. */
  readonly tickMs: number;
  /** Held work asks the gate by itself after this, should it never be woken. */
  readonly recheckMs: number;
  /** How often the service is looked at while its shapes have not been seen and purchases are held: some ten calls. */
  readonly firstContactMs: number;
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
  firstContactMs: 3 * minute,
};
