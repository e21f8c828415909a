import Big from 'big.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareMoney } from '#domain/money/money.ts';
import { type PricedItem, type PricingRule, termsProblems, tiedRules } from '#domain/pricing/pricing-rule.ts';
import { leastPrice, marginOf, reprice, suggestPrice, withRules } from '#domain/pricing/suggested-price.ts';
import { assertForAll } from '#test/support/for-all.ts';
import { cost, eur, suggested, terms } from '#test/support/pricing-terms.ts';

const target = fc.oneof(
  fc.constant({ targetKind: 'default', targetKey: '' } as const),
  fc.constantFrom('DE', 'FR', 'JP').map((targetKey) => ({ targetKind: 'country', targetKey }) as const),
  fc.constantFrom('1', '2').map((targetKey) => ({ targetKind: 'package', targetKey }) as const),
  fc.constantFrom('1', '2').map((targetKey) => ({ targetKind: 'vpn_plan', targetKey }) as const),
);
const rules: fc.Arbitrary<PricingRule[]> = fc.uniqueArray(
  fc.tuple(target, fc.constantFrom('EUR', 'USD'), terms).map(([of, currency, by]) => ({ ...of, currency, terms: by })),
  { selector: (rule) => `${rule.targetKind}/${rule.targetKey}/${rule.currency}` },
);
const item: fc.Arbitrary<PricedItem> = fc.oneof(
  fc.record({
    kind: fc.constant('package' as const),
    id: fc.constantFrom(1, 2, 3),
    countries: fc.subarray(['DE', 'FR', 'JP', 'US']),
    cost,
  }),
  fc.record({ kind: fc.constant('vpn_plan' as const), id: fc.constantFrom(1, 2, 3), cost }),
);
const RANK = { default: 0, country: 1, package: 2, vpn_plan: 2 } as const;

describe('the effective rule', () => {
  it('is the most specific applicable one in the currency of the cost, for any order of the rules', () => {
    assertForAll(item, rules, fc.infiniteStream(fc.double()), (sold, all, keys) => {
      const applies = all.filter(({ targetKind, targetKey, currency }) => {
        if (currency !== 'EUR') return false;
        if (targetKind === 'country') return sold.kind === 'package' && sold.countries.includes(targetKey);
        return targetKind === 'default' || (targetKind === sold.kind && targetKey === String(sold.id));
      });
      const found = suggestPrice(sold, all);
      const best = Math.max(...applies.map(({ targetKind }) => RANK[targetKind]));
      expect(found === undefined).toBe(applies.length === 0);
      if (found === undefined) return;
      expect(applies).toContain(found.rule);
      expect(RANK[found.rule.targetKind]).toBe(best);
      // Of several countries, the one with the highest price.
      for (const rule of applies.filter(({ targetKind }) => RANK[targetKind] === best))
        expect(compareMoney(suggested(sold.cost, rule.terms).price, found.price)).not.toBe(1);
      const shuffled = all
        .map((rule) => ({ rule, key: keys.next().value ?? 0 }))
        .toSorted((a, b) => a.key - b.key)
        .map(({ rule }) => rule);
      expect(suggestPrice(sold, shuffled)).toEqual(found);
    });
  });

  it('has a unique name among the rules in force', () => {
    const germany = { targetKind: 'country', targetKey: 'DE', currency: 'EUR' } as const;
    const others = { targetKind: 'default', targetKey: '', currency: 'EUR' } as const;
    expect(tiedRules([germany, { ...germany, currency: 'USD' }, others])).toEqual([]);
    expect(tiedRules([germany, others, germany, germany])).toEqual(['country DE EUR']);
  });

  it('has a rounding that prices can reach', () => {
    const grid = (step: string, ending: string) =>
      termsProblems({ rounding: { step, ending, direction: 'up' } }).map(({ field }) => field);
    expect([grid('1', '0.99'), grid('1', '1')]).toEqual([[], ['rounding.ending']]);
    expect([grid('0', '0'), grid('0.00', '0')]).toEqual([['rounding.step'], ['rounding.step']]);
  });
});

describe('a trial of other rules and costs', () => {
  it('shows the margin of an unchanged price, and whether the new rule would suggest it', () => {
    assertForAll(item, rules, rules, cost, fc.option(cost), (sold, now, tried, newCost, kept) => {
      const sellingPrice = kept ?? undefined;
      const trial = reprice({ item: sold, rules: now, newCost, newRules: tried, sellingPrice });
      const { before, after, isChanged, kept: stays } = trial;
      expect(before).toEqual(suggestPrice(sold, now));
      expect(after).toEqual(suggestPrice({ ...sold, cost: newCost }, tried));
      expect(isChanged).toBe(before?.price.amount !== after?.price.amount);
      const price = sellingPrice ?? before?.price;
      expect(stays?.price).toEqual(price);
      if (stays === undefined || price === undefined) return;
      expect(stays.isAtLoss).toBe(new Big(price.amount).lt(newCost.amount));
      expect(stays.margin).toEqual(marginOf(newCost.amount, price.amount));
      const least = after === undefined ? newCost : leastPrice(newCost, after.rule.terms);
      expect(stays.isBelowMinimum).toBe(new Big(price.amount).lt(least.amount));
      // A price equal to the new suggestion is never below the minimum.
      expect(!stays.isBelowMinimum || after === undefined || compareMoney(after.price, price) > 0).toBe(true);
    });
  });

  it('shows no result for a price in another currency', () => {
    const sold: PricedItem = { kind: 'vpn_plan', id: 1, cost: eur('1') };
    const newCost = { amount: '1', currency: 'USD' };
    const trial = reprice({ item: sold, rules: [], newCost, newRules: [], sellingPrice: eur('2') });
    expect(trial.kept).toBeUndefined();
  });

  it('replaces rules of the same target by tried ones', () => {
    assertForAll(rules, rules, (inForce, tried) => {
      const together = withRules(inForce, tried);
      expect(tiedRules(together)).toEqual([]);
      expect(together).toEqual(expect.arrayContaining(tried));
    });
  });
});
