import { compareMoney, type Money } from '#domain/money/money.ts';

/** The highest price that a caller allows; null: any. */
export type PriceLimit = Money | null;

/**
 * True when a price may be charged. A limit in another currency allows no price, because the amounts cannot be
 * compared.
 */
export function isWithin(limit: PriceLimit, price: Money): boolean {
  return limit === null || (limit.currency === price.currency && compareMoney(price, limit) <= 0);
}

/**
 * The limit that counts after two sends of one attempt, of which either may have bought it: the higher one.
 * @param later counts when the two are in different currencies.
 */
export function looserLimit(earlier: PriceLimit, later: PriceLimit): PriceLimit {
  if (later === null) return null;
  return isWithin(earlier, later) ? earlier : later;
}
