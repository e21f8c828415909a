/** What becomes of selling prices when rules or the service's prices change. */
import { compareMoney, equalMoney, type Money } from '#domain/money/money.ts';
import { isSoldAtLoss, leastPrice, marginOf, type Margin } from '#domain/pricing/margin.ts';
import { ruleName, type PricedItem, type PricingRule } from '#domain/pricing/pricing-rule.ts';
import { suggestPrice, type RuledSuggestion } from '#domain/pricing/suggested-price.ts';

/** A price that stays as it is while the cost and the rules change. */
interface KeptPrice {
  readonly price: Money;
  readonly margin: Margin;
  /** What the new rule asks for at least; the new cost where none applies. */
  readonly least: Money;
  readonly isBelowMinimum: boolean;
  readonly isAtLoss: boolean;
}

export interface Repriced<Rule extends PricingRule> {
  readonly before: RuledSuggestion<Rule> | undefined;
  readonly after: RuledSuggestion<Rule> | undefined;
  /** True when the two suggest different prices, or only one of them suggests any. */
  readonly isChanged: boolean;
  /** Undefined where there is no price to keep, or the new cost is in another currency. */
  readonly kept: KeptPrice | undefined;
}

/** One thing as it is sold now, and what is tried with it. */
export interface Trial<Rule extends PricingRule> {
  readonly item: PricedItem;
  readonly rules: readonly Rule[];
  /** What the service would charge. */
  readonly newCost: Money;
  readonly newRules: readonly Rule[];
  /** What the shop asks for it now; undefined: what the rules suggest now. */
  readonly sellingPrice: Money | undefined;
}

/** Prices a thing as it is and as it would be. Changes nothing. */
export function reprice<Rule extends PricingRule>({
  item,
  rules,
  newCost,
  newRules,
  sellingPrice,
}: Trial<Rule>): Repriced<Rule> {
  const before = suggestPrice(item, rules);
  const after = suggestPrice({ ...item, cost: newCost }, newRules);
  const price = sellingPrice ?? before?.price;
  const isSame = before === undefined || after === undefined ? before === after : equalMoney(before.price, after.price);
  return {
    before,
    after,
    isChanged: !isSame,
    kept:
      price === undefined || price.currency !== newCost.currency ? undefined : keptPrice(price, newCost, after?.rule),
  };
}

function keptPrice(price: Money, cost: Money, rule: PricingRule | undefined): KeptPrice {
  const least = rule === undefined ? cost : leastPrice(cost, rule.terms);
  return {
    price,
    margin: marginOf(cost.amount, price.amount),
    least,
    isBelowMinimum: compareMoney(price, least) < 0,
    isAtLoss: isSoldAtLoss(cost, price),
  };
}

/** The rules of a trial: those in force, with the tried ones in the place of those for the same. */
export function withRules<Rule extends PricingRule>(inForce: readonly Rule[], tried: readonly Rule[]): Rule[] {
  const replaced = new Set(tried.map(ruleName));
  return [...inForce.filter((rule) => !replaced.has(ruleName(rule))), ...tried];
}
