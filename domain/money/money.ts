import Big from 'big.js';

/** An exact decimal amount in plain notation (`"12.50"`), never a float. */
export type Decimal = string;

/** Amounts of different currencies are never compared or added. */
export interface Money {
  readonly amount: Decimal;
  /** ISO 4217 code, upper case. */
  readonly currency: string;
}

const PLAIN_DECIMAL = /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,6})?$/;

/** Fits our `numeric(21,6)` columns; no exponent. */
export function isDecimal(text: string): boolean {
  return PLAIN_DECIMAL.test(text);
}

export function isUnsignedDecimal(text: string): boolean {
  return isDecimal(text) && !text.startsWith('-');
}

/** Exact for numbers of up to 15 significant digits. @throws RangeError when it does not fit our columns. */
export function parseDecimal(value: string | number): Decimal {
  const text = typeof value === 'number' ? numberToPlain(value) : value.trim();
  if (!isDecimal(text)) throw new RangeError(`not a decimal amount: ${JSON.stringify(value)}`);
  return text;
}

/** @throws RangeError on different currencies. */
export function compareMoney(left: Money, right: Money): -1 | 0 | 1 {
  requireSameCurrency(left, right);
  return new Big(left.amount).cmp(right.amount);
}

/** @throws RangeError on different currencies. */
export function addMoney(left: Money, right: Money): Money {
  requireSameCurrency(left, right);
  return { amount: new Big(left.amount).plus(right.amount).toFixed(), currency: left.currency };
}

export function sumByCurrency(amounts: Iterable<Money>): Money[] {
  const sums = new Map<string, Money>();
  for (const money of amounts) {
    const before = sums.get(money.currency) ?? { amount: '0', currency: money.currency };
    sums.set(money.currency, addMoney(before, money));
  }
  return [...sums.values()];
}

/** @throws RangeError on different currencies. */
export function subtractMoney(left: Money, right: Money): Money {
  return addMoney(left, negateMoney(right));
}

export function negateMoney(money: Money): Money {
  return { amount: new Big(money.amount).times(-1).toFixed(), currency: money.currency };
}

export function equalMoney(left: Money, right: Money): boolean {
  return left.currency === right.currency && new Big(left.amount).eq(right.amount);
}

/** Removes the padding of the database (six decimal places); at least two places stay. */
export function plainAmount(amount: Decimal): Decimal {
  return amount.replace(/(\.\d{2}\d*?)0+$/, '$1');
}

/** Undefined when either column is null. */
export function moneyOf(amount: Decimal | null, currency: string | null): Money | undefined {
  return amount === null || currency === null ? undefined : { amount, currency };
}

export function plainMoney(amount: Decimal | null, currency: string | null): Money | null {
  return amount === null || currency === null ? null : { amount: plainAmount(amount), currency };
}

/** As {@link plainAmount}, for calculated amounts, which may have fewer than two decimal places. */
export function paddedAmount(amount: Decimal): Decimal {
  const exact = new Big(amount);
  return exact.eq(exact.round(2)) ? exact.toFixed(2) : exact.toFixed();
}

export function paddedMoney({ amount, currency }: Money): Money {
  return { amount: paddedAmount(amount), currency };
}

export function plainText({ amount, currency }: Money): string {
  return `${paddedAmount(amount)} ${currency}`;
}

function numberToPlain(value: number): string {
  if (!Number.isFinite(value)) throw new RangeError(`not a decimal amount: ${String(value)}`);
  return new Big(value).toFixed();
}

function requireSameCurrency(left: Money, right: Money): void {
  if (left.currency !== right.currency) {
    throw new RangeError(`cannot combine ${left.currency} with ${right.currency}`);
  }
}

/** `other_unit`: one amount is 10, 100 or 1,000 times the other, as when one part of the service counts in cents. */
export type AmountComparison = 'equal' | 'differs' | 'other_unit' | 'other_currency';

/** Minor units of ISO 4217 have up to three decimals, and some services use tenths. */
const FACTORS = [10, 100, 1_000] as const;

/** Below this, rounding to a whole number changes an amount too much to show a factor. */
const SMALLEST_ROUNDED = 10;

export function compareAmounts(expected: Money, actual: Money): AmountComparison {
  if (expected.currency !== actual.currency) return 'other_currency';
  const one = new Big(expected.amount);
  const other = new Big(actual.amount);
  if (one.eq(other)) return 'equal';
  const [smaller, larger] = one.abs().lt(other.abs()) ? [one, other] : [other, one];
  return FACTORS.some((factor) => isMultiple(smaller.times(factor), larger)) ? 'other_unit' : 'differs';
}

/** Results that stop buying: the amounts of the service cannot be understood. */
export function isOtherMoney(comparison: AmountComparison): comparison is 'other_unit' | 'other_currency' {
  return comparison === 'other_unit' || comparison === 'other_currency';
}

/** A price with more decimals than its minor unit is rounded there: 4.125 becomes 413. */
function isMultiple(multiplied: Big, larger: Big): boolean {
  return multiplied.eq(larger) || (larger.abs().gte(SMALLEST_ROUNDED) && multiplied.round(0).eq(larger));
}
