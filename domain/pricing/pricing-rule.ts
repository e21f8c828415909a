/** Rules for selling prices: what each is for, and what it says. */
import Big from 'big.js';
import type { Decimal, Money } from '#domain/money/money.ts';

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
