/** Margins between a cost of the service and a selling price of the same currency. */
import Big from 'big.js';
import { compareMoney, paddedAmount, type Decimal, type Money } from '#domain/money/money.ts';
import type { Markup, PricingTerms } from '#domain/pricing/pricing-rule.ts';

/** Decimal places of our amounts. */
const DIGITS = 6;
const HUNDRED = new Big(100);

/** The margin of a selling price. */
export interface Margin {
  readonly amount: Decimal;
  /** Percent of the cost, to two digits; null when the cost is zero. */
  readonly percent: Decimal | null;
}

/**
 * The lowest price that a rule allows for a cost: with its minimum margin, and not below its minimum price or the cost.
 * Not rounded.
 */
export function leastPrice(cost: Money, terms: Pick<PricingTerms, 'minimumMargin' | 'minimumPrice'>): Money {
  return { amount: paddedAmount(floorOf(cost.amount, terms).toFixed()), currency: cost.currency };
}

/** The margin of a selling price over a cost of the same currency. */
export function marginOf(cost: Decimal, price: Decimal): Margin {
  const amount = new Big(price).minus(cost);
  return {
    amount: paddedAmount(amount.toFixed()),
    percent: isZero(cost) ? null : amount.times(HUNDRED).div(cost).toFixed(2),
  };
}

/** True when a price does not cover a cost. @throws RangeError on different currencies. */
export function isSoldAtLoss(cost: Money, sellingPrice: Money): boolean {
  return compareMoney(sellingPrice, cost) < 0;
}

/**
 * The highest cost at which a price is still allowed: within the drift, and not so high that the price loses the
 * minimum margin.
 */
export function highestCost(cost: Decimal, price: Big, { minimumMargin, maxPriceDriftPercent }: PricingTerms): Decimal {
  const bounds = [
    new Big(cost).plus(shareOf(cost, maxPriceDriftPercent)),
    price.minus(minimumMargin.amount),
    price.times(HUNDRED).div(HUNDRED.plus(minimumMargin.percent)),
  ];
  const [first = price, ...others] = bounds.map((bound) => bound.round(DIGITS, Big.roundDown));
  return paddedAmount(others.reduce((least, next) => (next.lt(least) ? next : least), first).toFixed());
}

/** The lowest price that the terms allow for a cost: its margin and the minimum price. */
export function floorOf(
  cost: Decimal,
  { minimumMargin, minimumPrice }: Pick<PricingTerms, 'minimumMargin' | 'minimumPrice'>,
): Big {
  const withMargin = marginFloor(cost, minimumMargin);
  return minimumPrice !== null && withMargin.lt(minimumPrice) ? new Big(minimumPrice) : withMargin;
}

/** The lowest price with the margin: the larger of percentage and amount is added to the cost. */
export function marginFloor(cost: Decimal, { percent, amount }: Markup): Big {
  const byPercent = new Big(cost).plus(shareOf(cost, percent));
  const byAmount = new Big(cost).plus(amount);
  return byPercent.lt(byAmount) ? byAmount : byPercent;
}

/** Multiplies by 0.01: a division by 100 would cut digits. */
export function shareOf(amount: Decimal, percent: Decimal): Big {
  return new Big(amount).times(percent).times('0.01');
}

/** True for zero in any notation. */
export function isZero(decimal: Decimal): boolean {
  return new Big(decimal).eq(0);
}
