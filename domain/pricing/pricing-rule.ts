import Big from 'big.js';
import type { Decimal, Money } from '#domain/money/money.ts';

export const PRICING_TARGET_KINDS = ['default', 'country', 'package', 'vpn_plan'] as const;

export type PricingTargetKind = (typeof PRICING_TARGET_KINDS)[number];

export interface Markup {
  readonly percent: Decimal;
  readonly amount: Decimal;
}

/** Prices are a multiple of `step` plus `ending`: .99 is a step of 1 with the ending 0.99. */
export interface Rounding {
  readonly step: Decimal;
  readonly ending: Decimal;
  /** `nearest` does not go below the minimum. */
  readonly direction: 'up' | 'nearest';
}

export interface PricingTerms {
  readonly margin: Markup;
  readonly minimumMargin: Markup;
  readonly minimumPrice: Decimal | null;
  /** Null: round up to the smallest unit of the currency. */
  readonly rounding: Rounding | null;
  /** How far the service's price may rise before a purchase is held, in percent. */
  readonly maxPriceDriftPercent: Decimal;
}

export interface PricingRule {
  /** Both are absent for a rule that is only tried. */
  readonly id?: string;
  readonly version?: number;
  readonly targetKind: PricingTargetKind;
  /** A country (ISO 3166-1 alpha-2), or the service's id of the package or plan; empty for the default. */
  readonly targetKey: string;
  readonly currency: string;
  readonly terms: PricingTerms;
}

export type PricedItem =
  | { readonly kind: 'package'; readonly id: number; readonly countries: readonly string[]; readonly cost: Money }
  | { readonly kind: 'vpn_plan'; readonly id: number; readonly cost: Money };

/** Such as `country DE EUR`. The database allows one rule in force for each name. */
export function ruleName({ targetKind, targetKey, currency }: RulePlace): string {
  return [targetKind, targetKey, currency].filter((part) => part !== '').join(' ');
}

type RulePlace = Pick<PricingRule, 'targetKind' | 'targetKey' | 'currency'>;

export function tiedRules(rules: readonly RulePlace[]): string[] {
  const seen = new Set<string>();
  const tied = rules.map(ruleName).filter((name) => seen.size === seen.add(name).size);
  return [...new Set(tied)];
}

export function termsProblems({ rounding }: Pick<PricingTerms, 'rounding'>) {
  if (rounding === null) return [];
  if (new Big(rounding.step).lte(0)) return [{ field: 'rounding.step', message: 'must be more than zero' }];
  if (new Big(rounding.ending).gte(rounding.step))
    return [{ field: 'rounding.ending', message: 'must be less than the step' }];
  return [];
}
