/**
 * Selling prices that the reseller's own rules suggest: exact decimals, one currency, never below what the rule's
 * minimum says and never below what the service charges. What a customer pays stays the shop's decision.
 */
import Big from 'big.js';
import { compareMoney, isDecimal, paddedAmount, type Decimal, type Money } from '#domain/money/money.ts';

export const PRICING_TARGET_KINDS = ['default', 'country', 'package', 'vpn_plan'] as const;

/** What a rule is for. `country`: an ISO 3166-1 alpha-2 code. Ids are the service's. */
export type PricingTarget =
  | { readonly kind: 'default' }
  | { readonly kind: 'country'; readonly country: string }
  | { readonly kind: 'package'; readonly packageId: number }
  | { readonly kind: 'vpn_plan'; readonly vpnPlanId: number };
export type PricingTargetKind = PricingTarget['kind'];

/** A share of `price_for_reseller`, in percent, and an amount beside it. */
export interface Markup {
  readonly percent: Decimal;
  readonly amount: Decimal;
}

/** Prices end on `step` times a whole number, plus `ending`: .99 is a step of 1 with the ending 0.99. */
export interface Rounding {
  readonly step: Decimal;
  readonly ending: Decimal;
  /** `nearest` never goes below the minimum either. */
  readonly direction: 'up' | 'nearest';
}

/** What a rule says. All amounts are in its currency. */
export interface PricingTerms {
  readonly margin: Markup;
  /** Both of its parts hold. */
  readonly minimumMargin: Markup;
  readonly minimumPrice: Decimal | null;
  /** Null: up to the smallest unit of the currency. */
  readonly rounding: Rounding | null;
  /** How much more than at present the service may charge before a purchase is held instead, in percent. */
  readonly maxPriceDriftPercent: Decimal;
}

/** A rule. It applies to what is priced in its currency, and to nothing else. */
export interface PricingRule {
  readonly target: PricingTarget;
  readonly currency: string;
  readonly terms: PricingTerms;
}

/** What is to be sold. */
export type PricedItem =
  | { readonly kind: 'package'; readonly id: number; readonly countries: readonly string[]; readonly cost: Money }
  | { readonly kind: 'vpn_plan'; readonly id: number; readonly cost: Money };

/** What a selling price leaves. */
export interface Margin {
  readonly amount: Decimal;
  /** Of the cost, to two digits; null where that is nothing. */
  readonly percent: Decimal | null;
}

export const PRICING_STEPS = [
  'cost',
  'margin_percent',
  'margin_amount',
  'minimum_margin',
  'minimum_price',
  'rounding',
] as const;

/** One step from the cost to the suggestion; `amount` is the price after it. */
export interface PricingStep {
  readonly step: (typeof PRICING_STEPS)[number];
  readonly amount: Decimal;
  /** A sentence. */
  readonly text: string;
}

export interface Suggestion {
  readonly price: Money;
  readonly margin: Margin;
  /** The most that the service may charge for it: at that cost the price still keeps the minimum margin. */
  readonly maxPrice: Money;
  readonly explanation: readonly PricingStep[];
}

/** A rule with the price that it suggests. */
export interface RuledSuggestion<Rule extends PricingRule> extends Suggestion {
  readonly rule: Rule;
}

/** Amounts of ours have at most six digits after the point. */
const DIGITS = 6;
const HUNDRED = new Big(100);

/**
 * Names what a rule is for: two rules of one name would tie, so the database has one at most in force.
 *
 * @returns such as `country DE EUR`.
 */
export function ruleName({ target, currency }: Pick<PricingRule, 'target' | 'currency'>): string {
  return [target.kind, targetKey(target), currency].filter((part) => part !== '').join(' ');
}

/** The part of a target beside its kind, as text; empty for the default. */
export function targetKey(target: PricingTarget): string {
  switch (target.kind) {
    case 'default':
      return '';
    case 'country':
      return target.country;
    case 'package':
      return String(target.packageId);
    case 'vpn_plan':
      return String(target.vpnPlanId);
  }
}

/** The target that {@link targetKey} was read from. */
export function targetOf(kind: PricingTargetKind, key: string): PricingTarget {
  switch (kind) {
    case 'default':
      return { kind };
    case 'country':
      return { kind, country: key };
    case 'package':
      return { kind, packageId: Number(key) };
    case 'vpn_plan':
      return { kind, vpnPlanId: Number(key) };
  }
}

/** The names that more than one of these rules has. */
export function tiedRules(rules: readonly Pick<PricingRule, 'target' | 'currency'>[]): string[] {
  const seen = new Set<string>();
  const tied = rules.map(ruleName).filter((name) => seen.size === seen.add(name).size);
  return [...new Set(tied)];
}

/** @returns what is wrong with terms beyond the form of their fields, by the field; empty when they are sound. */
export function termsProblems({
  rounding,
}: Pick<PricingTerms, 'rounding'>): { readonly field: string; readonly message: string }[] {
  if (rounding === null) return [];
  if (new Big(rounding.step).lte(0)) return [{ field: 'rounding.step', message: 'must be more than zero' }];
  if (new Big(rounding.ending).gte(rounding.step))
    return [{ field: 'rounding.ending', message: 'must be less than the step' }];
  return [];
}

/**
 * The price that the most specific rule suggests: of the package or plan itself, else of one of its countries, else the
 * default. Where several countries of a package have a rule, the dearest suggestion counts, so that no country is sold
 * below its rule; of equal ones, the first by country.
 *
 * @returns undefined when no rule applies, or the price would not fit our amounts.
 */
export function suggestPrice<Rule extends PricingRule>(
  item: PricedItem,
  rules: readonly Rule[],
): RuledSuggestion<Rule> | undefined {
  const inCurrency = rules.filter(({ currency }) => currency === item.cost.currency);
  const ofItem = ({ target }: Rule) => target.kind === item.kind && targetKey(target) === String(item.id);
  const ofCountry = ({ target }: Rule) =>
    target.kind === 'country' && item.kind === 'package' && item.countries.includes(target.country);
  for (const applies of [ofItem, ofCountry, ({ target }: Rule) => target.kind === 'default']) {
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

/** What these terms make of a cost. @returns undefined when the price would not fit our amounts. */
export function priceByTerms(cost: Money, terms: PricingTerms): Suggestion | undefined {
  const { currency } = cost;
  const explanation: PricingStep[] = [];
  let price = new Big(cost.amount);
  const note = (step: PricingStep['step'], sentence: string) =>
    void explanation.push({ step, amount: paddedAmount(price.toFixed()), text: sentence });
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
  const fitted = paddedAmount(price.toFixed());
  if (!isDecimal(fitted)) return undefined;
  return {
    price: { amount: fitted, currency },
    margin: marginOf(cost.amount, fitted),
    maxPrice: { amount: highestCost(cost.amount, price, terms), currency },
    explanation,
  };
}

/**
 * The least price that a rule allows for a cost: with its minimum margin, not below its minimum price or the cost.
 * Perhaps not rounded.
 */
export function leastPrice(cost: Money, terms: Pick<PricingTerms, 'minimumMargin' | 'minimumPrice'>): Money {
  return { amount: paddedAmount(floorOf(cost.amount, terms).toFixed()), currency: cost.currency };
}

/** What a selling price leaves over a cost of the same currency. */
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

/** The cost may rise by the drift, but not to where the price no longer keeps the minimum margin. */
function highestCost(cost: Decimal, price: Big, { minimumMargin, maxPriceDriftPercent }: PricingTerms): Decimal {
  const bounds = [
    new Big(cost).plus(shareOf(cost, maxPriceDriftPercent)),
    price.minus(minimumMargin.amount),
    price.times(HUNDRED).div(HUNDRED.plus(minimumMargin.percent)),
  ];
  const [first = price, ...others] = bounds.map((bound) => bound.round(DIGITS, Big.roundDown));
  return paddedAmount(others.reduce((least, next) => (next.lt(least) ? next : least), first).toFixed());
}

function floorOf(
  cost: Decimal,
  { minimumMargin, minimumPrice }: Pick<PricingTerms, 'minimumMargin' | 'minimumPrice'>,
): Big {
  const withMargin = marginFloor(cost, minimumMargin);
  return minimumPrice !== null && withMargin.lt(minimumPrice) ? new Big(minimumPrice) : withMargin;
}

function marginFloor(cost: Decimal, { percent, amount }: Markup): Big {
  const byPercent = new Big(cost).plus(shareOf(cost, percent));
  const byAmount = new Big(cost).plus(amount);
  return byPercent.lt(byAmount) ? byAmount : byPercent;
}

/** A multiplication: a division by a hundred would cut digits off. */
function shareOf(amount: Decimal, percent: Decimal): Big {
  return new Big(amount).times(percent).times('0.01');
}

/** The point of the grid, from `floor` on, that a price is rounded to. */
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

/** Such as 0.01, and 1 where the currency has no smaller unit. */
function smallestUnit(currency: string): Decimal {
  const known = smallestUnits.get(currency);
  if (known !== undefined) return known;
  const digits =
    new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2;
  const unit = new Big(10).pow(-digits).toFixed();
  smallestUnits.set(currency, unit);
  return unit;
}

/** A formatter takes longer to make than a price to reckon. */
const smallestUnits = new Map<string, Decimal>();

function isZero(decimal: Decimal): boolean {
  return new Big(decimal).eq(0);
}

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
