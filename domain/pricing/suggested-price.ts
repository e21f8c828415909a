import Big from 'big.js';
import { compareMoney, type Decimal, equalMoney, isDecimal, type Money, paddedAmount } from '#domain/money/money.ts';
import {
  type Markup,
  type PricedItem,
  type PricingRule,
  type PricingTerms,
  type Rounding,
  ruleName,
} from '#domain/pricing/pricing-rule.ts';

const DIGITS = 6;
const HUNDRED = new Big(100);

export interface Margin {
  readonly amount: Decimal;
  /** Percent of the cost, to two digits; null when the cost is zero. */
  readonly percent: Decimal | null;
}

/** The result is not below the minimum price or the cost, and not rounded. */
export function leastPrice(cost: Money, terms: Pick<PricingTerms, 'minimumMargin' | 'minimumPrice'>): Money {
  return { amount: plain(floorOf(cost.amount, terms)), currency: cost.currency };
}

export function marginOf(cost: Decimal, price: Decimal): Margin {
  const amount = new Big(price).minus(cost);
  return {
    amount: plain(amount),
    percent: isZero(cost) ? null : amount.times(HUNDRED).div(cost).toFixed(2),
  };
}

/** @throws RangeError on different currencies. */
export function isSoldAtLoss(cost: Money, sellingPrice: Money): boolean {
  return compareMoney(sellingPrice, cost) < 0;
}

/** Within the drift, and not so high that the price loses the minimum margin. */
function highestCost(cost: Decimal, price: Big, { minimumMargin, maxPriceDriftPercent }: PricingTerms): Decimal {
  const bounds = [
    new Big(cost).plus(shareOf(cost, maxPriceDriftPercent)),
    price.minus(minimumMargin.amount),
    price.times(HUNDRED).div(HUNDRED.plus(minimumMargin.percent)),
  ];
  const [first = price, ...others] = bounds.map((bound) => bound.round(DIGITS, Big.roundDown));
  return plain(others.reduce((least, next) => (next.lt(least) ? next : least), first));
}

function floorOf(cost: Decimal, terms: Pick<PricingTerms, 'minimumMargin' | 'minimumPrice'>): Big {
  const { minimumMargin, minimumPrice } = terms;
  const withMargin = marginFloor(cost, minimumMargin);
  return minimumPrice !== null && withMargin.lt(minimumPrice) ? new Big(minimumPrice) : withMargin;
}

/** The larger of percentage and amount is added to the cost. */
function marginFloor(cost: Decimal, { percent, amount }: Markup): Big {
  const byPercent = new Big(cost).plus(shareOf(cost, percent));
  const byAmount = new Big(cost).plus(amount);
  return byPercent.lt(byAmount) ? byAmount : byPercent;
}

/** Multiplies by 0.01: a division by 100 would cut digits. */
function shareOf(amount: Decimal, percent: Decimal): Big {
  return new Big(amount).times(percent).times('0.01');
}

function isZero(decimal: Decimal): boolean {
  return new Big(decimal).eq(0);
}

export const PRICING_STEPS = [
  'cost',
  'margin_percent',
  'margin_amount',
  'minimum_margin',
  'minimum_price',
  'rounding',
] as const;

interface PricingStep {
  readonly step: (typeof PRICING_STEPS)[number];
  readonly amount: Decimal;
  readonly text: string;
}

export interface Suggestion {
  readonly price: Money;
  readonly margin: Margin;
  readonly maxPrice: Money;
  readonly explanation: readonly PricingStep[];
}

export interface RuledSuggestion extends Suggestion {
  readonly rule: PricingRule;
}

/**
 * Package or plan, then country, then default; of several countries the highest price, so that none is sold below its
 * rule.
 * @returns undefined when no rule applies, or the price does not fit our amounts.
 */
export function suggestPrice(item: PricedItem, rules: readonly PricingRule[]): RuledSuggestion | undefined {
  const inCurrency = rules.filter(({ currency }) => currency === item.cost.currency);
  const ofItem = ({ targetKind, targetKey }: PricingRule) => targetKind === item.kind && targetKey === String(item.id);
  const ofCountry = ({ targetKind, targetKey }: PricingRule) =>
    targetKind === 'country' && item.kind === 'package' && item.countries.includes(targetKey);
  for (const applies of [ofItem, ofCountry, ({ targetKind }: PricingRule) => targetKind === 'default']) {
    const matching = inCurrency.filter(applies).toSorted((one, other) => (ruleName(one) < ruleName(other) ? -1 : 1));
    if (matching.length === 0) continue;
    const suggested = matching.flatMap((rule) => {
      const suggestion = priceByTerms(item.cost, rule.terms);
      return suggestion === undefined ? [] : [{ rule, ...suggestion }];
    });
    if (suggested.length < matching.length) return undefined;
    return suggested.reduce((best, next) => (compareMoney(next.price, best.price) > 0 ? next : best));
  }
  return undefined;
}

export function priceByTerms(cost: Money, terms: PricingTerms): Suggestion | undefined {
  const { currency } = cost;
  const explanation: PricingStep[] = [];
  let price = new Big(cost.amount);
  const note = (step: PricingStep['step'], sentence: string) =>
    void explanation.push({ step, amount: plain(price), text: sentence });
  note('cost', `The service charges ${plain(price)} ${currency}.`);

  const { percent, amount } = terms.margin;
  if (!isZero(percent)) {
    price = price.plus(shareOf(cost.amount, percent));
    note('margin_percent', `${percent} % of that are added.`);
  }
  if (!isZero(amount)) {
    price = price.plus(amount);
    note('margin_amount', `${amount} ${currency} are added.`);
  }
  const withMargin = marginFloor(cost.amount, terms.minimumMargin);
  if (price.lt(withMargin)) {
    price = withMargin;
    note('minimum_margin', `The margin is raised to its minimum of ${markupText(terms.minimumMargin, currency)}.`);
  }
  if (terms.minimumPrice !== null && price.lt(terms.minimumPrice)) {
    price = new Big(terms.minimumPrice);
    note('minimum_price', `It is raised to the minimum price of ${terms.minimumPrice} ${currency}.`);
  }
  const rounding = terms.rounding ?? { step: smallestUnit(currency), ending: '0', direction: 'up' };
  const rounded = roundTo(price, rounding, floorOf(cost.amount, terms));
  if (!rounded.eq(price)) {
    const how = rounded.gt(price) ? 'up' : 'down';
    price = rounded;
    note('rounding', `It is rounded ${how} to ${roundingText(rounding, currency)}.`);
  }
  const fitted = plain(price);
  if (!isDecimal(fitted)) return undefined;
  return {
    price: { amount: fitted, currency },
    margin: marginOf(cost.amount, fitted),
    maxPrice: { amount: highestCost(cost.amount, price, terms), currency },
    explanation,
  };
}

function roundTo(price: Big, { step, ending, direction }: Rounding, floor: Big): Big {
  const beyond = price.minus(ending);
  if (beyond.lt(0)) return new Big(ending);
  const rest = beyond.mod(step);
  if (rest.eq(0)) return price;
  const below = price.minus(rest);
  const above = below.plus(step);
  const isBelowNearer = rest.lt(above.minus(price));
  return direction === 'nearest' && isBelowNearer && below.gte(floor) ? below : above;
}

function smallestUnit(currency: string): Decimal {
  const known = smallestUnits.get(currency);
  if (known !== undefined) return known;
  const digits =
    new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2;
  const unit = new Big(10).pow(-digits).toFixed();
  smallestUnits.set(currency, unit);
  return unit;
}

/** Cached: creating a formatter takes longer than calculating a price. */
const smallestUnits = new Map<string, Decimal>();

function plain(amount: Big): string {
  return paddedAmount(amount.toFixed());
}

function markupText({ percent, amount }: Markup, currency: string): string {
  const parts = [isZero(percent) ? '' : `${percent} %`, isZero(amount) ? '' : `${amount} ${currency}`].filter(
    (part) => part !== '',
  );
  return parts.length === 0 ? 'nothing' : parts.join(' and ');
}

function roundingText({ step, ending }: Rounding, currency: string): string {
  return isZero(ending)
    ? `a multiple of ${step} ${currency}`
    : `${ending} ${currency} beyond a multiple of ${step} ${currency}`;
}

export type Repriced = ReturnType<typeof reprice>;

interface Trial {
  readonly item: PricedItem;
  readonly rules: readonly PricingRule[];
  readonly newCost: Money;
  readonly newRules: readonly PricingRule[];
  /** The shop's present price; undefined: the price that the rules suggest now. */
  readonly sellingPrice: Money | undefined;
}

export function reprice({ item, rules, newCost, newRules, sellingPrice }: Trial) {
  const before = suggestPrice(item, rules);
  const after = suggestPrice({ ...item, cost: newCost }, newRules);
  const price = sellingPrice ?? before?.price;
  const isSame = before === undefined || after === undefined ? before === after : equalMoney(before.price, after.price);
  return {
    before,
    after,
    isChanged: !isSame,
    /** Undefined when there is no price to keep, or the new cost is in another currency. */
    kept:
      price === undefined || price.currency !== newCost.currency ? undefined : keptPrice(price, newCost, after?.rule),
  };
}

/** Its least price is that of the new rule, or the new cost when no rule applies. */
function keptPrice(price: Money, cost: Money, rule: PricingRule | undefined) {
  const least = rule === undefined ? cost : leastPrice(cost, rule.terms);
  return {
    price,
    margin: marginOf(cost.amount, price.amount),
    least,
    isBelowMinimum: compareMoney(price, least) < 0,
    isAtLoss: isSoldAtLoss(cost, price),
  };
}

export function withRules(inForce: readonly PricingRule[], tried: readonly PricingRule[]): PricingRule[] {
  const replaced = new Set(tried.map(ruleName));
  return [...inForce.filter((rule) => !replaced.has(ruleName(rule))), ...tried];
}
