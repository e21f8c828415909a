/** Compares two amounts that should be the same: a debit with its price, a credit with its debit. */
import Big from 'big.js';
import type { Money } from '#domain/money/money.ts';

/**
 * The result of a comparison. `other_unit`: one amount is 10, 100 or 1,000 times the other, as when one part of the
 * service counts in cents. `differs`: any other difference in one currency.
 */
export type AmountComparison = 'equal' | 'differs' | 'other_unit' | 'other_currency';

/** Tenths, cents, thousandths: minor units of ISO 4217 have up to three decimals, and some services use tenths. */
const FACTORS = [10, 100, 1_000] as const;

/** Below this, rounding to a whole number changes an amount too much to show a factor. */
const SMALLEST_ROUNDED = 10;

/** Compares an amount with the one that was expected. The order of the two does not matter. */
export function compareAmounts(expected: Money, actual: Money): AmountComparison {
  if (expected.currency !== actual.currency) return 'other_currency';
  const one = new Big(expected.amount);
  const other = new Big(actual.amount);
  if (one.eq(other)) return 'equal';
  const [smaller, larger] = one.abs().lt(other.abs()) ? [one, other] : [other, one];
  return FACTORS.some((factor) => isMultiple(smaller.times(factor), larger)) ? 'other_unit' : 'differs';
}

/** True for results that stop buying: the amounts of the service cannot be understood. */
export function isOtherMoney(comparison: AmountComparison): comparison is 'other_unit' | 'other_currency' {
  return comparison === 'other_unit' || comparison === 'other_currency';
}

/** A price with more decimals than its minor unit is rounded there: 4.125 becomes 413. */
function isMultiple(multiplied: Big, larger: Big): boolean {
  if (larger.eq(0)) return false;
  return multiplied.eq(larger) || (larger.abs().gte(SMALLEST_ROUNDED) && multiplied.round(0).eq(larger));
}
