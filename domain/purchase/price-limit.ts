import { compareMoney, type Money } from '#domain/money/money.ts';

/** The most that a caller lets the service charge; null: anything. */
export type PriceLimit = Money | null;

/**
 * True when a price may be charged: a limit in another currency allows none, since amounts of two currencies cannot be
 * compared.
 */
export function isWithin(limit: PriceLimit, price: Money): boolean {
  return limit === null || (limit.currency === price.currency && compareMoney(price, limit) <= 0);
}

/**
 * What was allowed of two sends of one attempt, of which either may have bought it.
 *
 * @param later counts where the two are of different currencies.
 */
export function looserLimit(earlier: PriceLimit, later: PriceLimit): PriceLimit {
  if (later === null) return null;
  return isWithin(earlier, later) ? earlier : later;
}
