import { compareMoney, equalMoney, type Money } from '#domain/money/money.ts';
import { type PricedItem, type PricingRule, ruleName } from '#domain/pricing/pricing-rule.ts';
import {
  isSoldAtLoss,
  leastPrice,
  type Margin,
  marginOf,
  type RuledSuggestion,
  suggestPrice,
} from '#domain/pricing/suggested-price.ts';

interface KeptPrice {
  readonly price: Money;
  readonly margin: Margin;
  /** The least price of the new rule; the new cost when no rule applies. */
  readonly least: Money;
  readonly isBelowMinimum: boolean;
  readonly isAtLoss: boolean;
}

export interface Repriced<Rule extends PricingRule> {
  readonly before: RuledSuggestion<Rule> | undefined;
  readonly after: RuledSuggestion<Rule> | undefined;
  readonly isChanged: boolean;
  /** Undefined when there is no price to keep, or the new cost is in another currency. */
  readonly kept: KeptPrice | undefined;
}

export interface Trial<Rule extends PricingRule> {
  readonly item: PricedItem;
  readonly rules: readonly Rule[];
  readonly newCost: Money;
  readonly newRules: readonly Rule[];
  /** The shop's present price; undefined: the price that the rules suggest now. */
  readonly sellingPrice: Money | undefined;
}

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

export function withRules<Rule extends PricingRule>(inForce: readonly Rule[], tried: readonly Rule[]): Rule[] {
  const replaced = new Set(tried.map(ruleName));
  return [...inForce.filter((rule) => !replaced.has(ruleName(rule))), ...tried];
}
