import Big from 'big.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareMoney, isDecimal, type Money } from '#domain/money/money.ts';
import { isSoldAtLoss, leastPrice, marginOf } from '#domain/pricing/margin.ts';
import {
  targetKey,
  targetOf,
  termsProblems,
  tiedRules,
  type PricedItem,
  type PricingRule,
  type PricingTarget,
  type PricingTerms,
} from '#domain/pricing/pricing-rule.ts';
import { reprice, withRules } from '#domain/pricing/repricing.ts';
import { priceByTerms, suggestPrice, type Suggestion } from '#domain/pricing/suggested-price.ts';

const eur = (amount: string): Money => ({ amount, currency: 'EUR' });
const cents = (max: number) => fc.integer({ min: 0, max }).map((units) => (units / 100).toFixed(2));
/** With all six digits, as a service may charge. */
const cost = fc
  .bigInt({ min: 0n, max: 10n ** 10n })
  .map((units) => eur(new Big(units.toString()).div(1_000_000).toFixed()));
const percent = fc.integer({ min: 0, max: 300_0000 }).map((units) => new Big(units).div(10_000).toFixed());
const markup = fc.record({ percent, amount: cents(5_000) });
const rounding = fc
  .record({
    step: fc.constantFrom('0.01', '0.03', '0.05', '0.5', '1', '10'),
    part: fc.double({ min: 0, max: 0.99, noNaN: true }),
    direction: fc.constantFrom('up' as const, 'nearest' as const),
  })
  .map(({ step, part, direction }) => ({
    step,
    ending: new Big(step).times(part.toFixed(2)).round(6, Big.roundDown).toFixed(),
    direction,
  }));
const terms: fc.Arbitrary<PricingTerms> = fc.record({
  margin: markup,
  minimumMargin: markup,
  minimumPrice: fc.option(cents(10_000)),
  rounding: fc.option(rounding),
  maxPriceDriftPercent: percent,
});

const PLAIN: PricingTerms = {
  margin: { percent: '0', amount: '0' },
  minimumMargin: { percent: '0', amount: '0' },
  minimumPrice: null,
  rounding: null,
  maxPriceDriftPercent: '0',
};
const termsWith = (some: Partial<PricingTerms>): PricingTerms => ({ ...PLAIN, ...some });

function suggested(price: Money, by: PricingTerms): Suggestion {
  const suggestion = priceByTerms(price, by);
  if (suggestion === undefined) throw new Error('no suggestion');
  return suggestion;
}

describe('a suggested price', () => {
  it.each<[string, string, Partial<PricingTerms>, string]>([
    ['a percentage', '9.80', { margin: { percent: '35', amount: '0' } }, '13.23'],
    ['a percentage and an amount', '9.80', { margin: { percent: '35', amount: '0.50' } }, '13.73'],
    ['the smallest unit where no rounding is set', '3.455', { margin: { percent: '30', amount: '0' } }, '4.50'],
    [
      'the next .99',
      '9.80',
      { margin: { percent: '35', amount: '0' }, rounding: { step: '1', ending: '0.99', direction: 'up' } },
      '13.99',
    ],
    [
      'a price that ends on .99 already',
      '13.99',
      { rounding: { step: '1', ending: '0.99', direction: 'up' } },
      '13.99',
    ],
    [
      'the nearest .99',
      '14.10',
      { rounding: { step: '1', ending: '0.99', direction: 'nearest' }, minimumMargin: { percent: '0', amount: '0' } },
      '14.99',
    ],
    [
      'the nearest five cents',
      '10.00',
      { margin: { percent: '0', amount: '1.02' }, rounding: { step: '0.05', ending: '0', direction: 'nearest' } },
      '11.00',
    ],
    [
      'up where the nearest is below the minimum',
      '10.00',
      {
        margin: { percent: '0', amount: '1.02' },
        minimumMargin: { percent: '0', amount: '1.01' },
        rounding: { step: '0.05', ending: '0', direction: 'nearest' },
      },
      '11.05',
    ],
    [
      'the minimum margin',
      '10.00',
      { margin: { percent: '5', amount: '0' }, minimumMargin: { percent: '10', amount: '0.80' } },
      '11.00',
    ],
    ['the minimum price', '0.40', { margin: { percent: '50', amount: '0' }, minimumPrice: '2.99' }, '2.99'],
    ['the first of the grid', '0.10', { rounding: { step: '10', ending: '9.99', direction: 'nearest' } }, '9.99'],
  ])('is raised to %s', (_what, price, some, expected) => {
    expect(suggested(eur(price), termsWith(some)).price).toEqual(eur(expected));
  });

  it('has no cents in a currency without cents', () => {
    expect(
      suggested({ amount: '100', currency: 'JPY' }, termsWith({ margin: { percent: '33.3', amount: '0' } })).price,
    ).toEqual({ amount: '134.00', currency: 'JPY' });
  });

  it('covers the cost and the minimum, for any terms', () => {
    fc.assert(
      fc.property(cost, terms, (charged, by) => {
        const { price, margin } = suggested(charged, by);
        expect(isDecimal(price.amount)).toBe(true);
        expect(isSoldAtLoss(charged, price)).toBe(false);
        expect(new Big(price.amount).gte(leastPrice(charged, by).amount)).toBe(true);
        expect(new Big(price.amount).minus(charged.amount).gte(by.minimumMargin.amount)).toBe(true);
        expect(
          new Big(price.amount)
            .times(100)
            .gte(new Big(charged.amount).times(new Big(by.minimumMargin.percent).plus(100))),
        ).toBe(true);
        expect(new Big(price.amount).gte(by.minimumPrice ?? '0')).toBe(true);
        expect(new Big(charged.amount).plus(margin.amount).eq(price.amount)).toBe(true);
      }),
    );
  });

  it('is on its grid, and less than a step above the unrounded price', () => {
    fc.assert(
      fc.property(cost, terms, rounding, (charged, by, grid) => {
        const { price, explanation } = suggested(charged, { ...by, rounding: grid });
        expect(new Big(price.amount).minus(grid.ending).mod(grid.step).eq(0)).toBe(true);
        const before = explanation.findLast(({ step }) => step !== 'rounding')?.amount ?? '0';
        const moved = new Big(price.amount).minus(before);
        const isFirst = new Big(price.amount).eq(grid.ending);
        expect(isFirst || moved.lt(grid.step)).toBe(true);
        expect(grid.direction === 'up' ? moved.gte(0) : moved.gt(new Big(grid.step).times('-0.5'))).toBe(true);
      }),
    );
  });

  it('does not decrease when the service charges more', () => {
    fc.assert(
      fc.property(cost, cost, terms, (one, other, by) => {
        const [low, high] = compareMoney(one, other) <= 0 ? [one, other] : [other, one];
        expect(compareMoney(suggested(low, by).price, suggested(high, by).price)).not.toBe(1);
      }),
    );
  });

  it('has an explanation that starts with the cost and ends with the price, and falls only by rounding', () => {
    fc.assert(
      fc.property(cost, terms, (charged, by) => {
        const { price, explanation } = suggested(charged, by);
        expect(explanation[0]).toMatchObject({ step: 'cost' });
        expect(new Big(explanation[0]?.amount ?? '-1').eq(charged.amount)).toBe(true);
        expect(new Big(explanation.at(-1)?.amount ?? '-1').eq(price.amount)).toBe(true);
        const raised = explanation.filter(({ step }) => step !== 'rounding').map(({ amount }) => new Big(amount));
        expect(raised.every((amount, index) => index === 0 || amount.gte(raised[index - 1] ?? 0))).toBe(true);
      }),
    );
  });

  it('is missing when it exceeds our amounts', () => {
    expect(priceByTerms(eur('999999999999999'), termsWith({ margin: { percent: '1', amount: '0' } }))).toBeUndefined();
  });
});

describe('the price limit of a suggestion', () => {
  it('permits the present cost, and covers cost and minimum margin at the limit', () => {
    fc.assert(
      fc.property(cost, terms, (charged, by) => {
        const { price, maxPrice } = suggested(charged, by);
        expect(isDecimal(maxPrice.amount)).toBe(true);
        expect(compareMoney(charged, maxPrice)).not.toBe(1);
        expect(isSoldAtLoss(maxPrice, price)).toBe(false);
        expect(compareMoney(leastPrice(maxPrice, { ...by, minimumPrice: null }), price)).not.toBe(1);
        const drifted = new Big(charged.amount).times(new Big(by.maxPriceDriftPercent).plus(100)).div(100);
        expect(new Big(maxPrice.amount).lte(drifted)).toBe(true);
      }),
    );
  });

  it('equals the drift when the margin permits it', () => {
    expect(
      suggested(eur('10.00'), termsWith({ margin: { percent: '40', amount: '0' }, maxPriceDriftPercent: '2.5' }))
        .maxPrice,
    ).toEqual(eur('10.25'));
    expect(
      suggested(
        eur('10.00'),
        termsWith({
          margin: { percent: '40', amount: '0' },
          minimumMargin: { percent: '0', amount: '3.90' },
          maxPriceDriftPercent: '50',
        }),
      ).maxPrice,
    ).toEqual(eur('10.10'));
  });
});

const target: fc.Arbitrary<PricingTarget> = fc.oneof(
  fc.constant({ kind: 'default' } as const),
  fc.constantFrom('DE', 'FR', 'JP').map((country) => ({ kind: 'country', country }) as const),
  fc.constantFrom(1, 2).map((packageId) => ({ kind: 'package', packageId }) as const),
  fc.constantFrom(1, 2).map((vpnPlanId) => ({ kind: 'vpn_plan', vpnPlanId }) as const),
);
const rules: fc.Arbitrary<PricingRule[]> = fc.uniqueArray(
  fc.record({ target, currency: fc.constantFrom('EUR', 'USD'), terms }),
  {
    selector: (rule) => `${rule.target.kind}/${targetKey(rule.target)}/${rule.currency}`,
  },
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
    fc.assert(
      fc.property(item, rules, fc.infiniteStream(fc.double()), (sold, all, keys) => {
        const applies = all.filter(({ target: of, currency }) => {
          if (currency !== 'EUR') return false;
          if (of.kind === 'country') return sold.kind === 'package' && sold.countries.includes(of.country);
          return of.kind === 'default' || (of.kind === sold.kind && targetKey(of) === String(sold.id));
        });
        const found = suggestPrice(sold, all);
        const best = Math.max(...applies.map(({ target: of }) => RANK[of.kind]));
        expect(found === undefined).toBe(applies.length === 0);
        if (found === undefined) return;
        expect(applies).toContain(found.rule);
        expect(RANK[found.rule.target.kind]).toBe(best);
        // Of several countries, the one with the highest price.
        for (const rule of applies.filter(({ target: of }) => RANK[of.kind] === best)) {
          expect(compareMoney(suggested(sold.cost, rule.terms).price, found.price)).not.toBe(1);
        }
        const shuffled = all
          .map((rule) => ({ rule, key: keys.next().value ?? 0 }))
          .toSorted((a, b) => a.key - b.key)
          .map(({ rule }) => rule);
        expect(suggestPrice(sold, shuffled)).toEqual(found);
      }),
    );
  });

  it('has a unique name among the rules in force', () => {
    const rule = (currency: string, of: PricingTarget): PricingRule => ({ target: of, currency, terms: PLAIN });
    const germany = rule('EUR', { kind: 'country', country: 'DE' });
    expect(
      tiedRules([germany, rule('USD', { kind: 'country', country: 'DE' }), rule('EUR', { kind: 'default' })]),
    ).toEqual([]);
    expect(tiedRules([germany, rule('EUR', { kind: 'default' }), germany, germany])).toEqual(['country DE EUR']);
    fc.assert(
      fc.property(target, (of) => {
        expect(targetOf(of.kind, targetKey(of))).toEqual(of);
      }),
    );
  });

  it('has a rounding that prices can reach', () => {
    const grid = (step: string, ending: string) =>
      termsProblems({ rounding: { step, ending, direction: 'up' } }).map(({ field }) => field);
    expect([grid('1', '0.99'), grid('1', '1'), grid('0', '0'), grid('0.00', '0')]).toEqual([
      [],
      ['rounding.ending'],
      ['rounding.step'],
      ['rounding.step'],
    ]);
  });
});

describe('a trial of other rules and costs', () => {
  it('shows the margin of an unchanged price, and whether the new rule would suggest it', () => {
    fc.assert(
      fc.property(item, rules, rules, cost, fc.option(cost), (sold, now, tried, newCost, kept) => {
        const sellingPrice = kept ?? undefined;
        const {
          before,
          after,
          isChanged,
          kept: stays,
        } = reprice({ item: sold, rules: now, newCost, newRules: tried, sellingPrice });
        expect(before).toEqual(suggestPrice(sold, now));
        expect(after).toEqual(suggestPrice({ ...sold, cost: newCost }, tried));
        expect(isChanged).toBe(before?.price.amount !== after?.price.amount);
        const price = sellingPrice ?? before?.price;
        expect(stays?.price).toEqual(price);
        if (stays === undefined || price === undefined) return;
        expect(stays.isAtLoss).toBe(new Big(price.amount).lt(newCost.amount));
        expect(stays.margin).toEqual(marginOf(newCost.amount, price.amount));
        expect(stays.isBelowMinimum).toBe(
          new Big(price.amount).lt(after === undefined ? newCost.amount : leastPrice(newCost, after.rule.terms).amount),
        );
        // A price equal to the new suggestion is never below the minimum.
        expect(!stays.isBelowMinimum || after === undefined || compareMoney(after.price, price) > 0).toBe(true);
      }),
    );
  });

  it('shows no result for a price in another currency', () => {
    const sold: PricedItem = { kind: 'vpn_plan', id: 1, cost: eur('1') };
    const trial = {
      item: sold,
      rules: [],
      newCost: { amount: '1', currency: 'USD' },
      newRules: [],
      sellingPrice: eur('2'),
    };
    expect(reprice(trial).kept).toBeUndefined();
  });

  it('replaces rules of the same target by tried ones', () => {
    fc.assert(
      fc.property(rules, rules, (inForce, tried) => {
        const together = withRules(inForce, tried);
        expect(tiedRules(together)).toEqual([]);
        expect(together).toEqual(expect.arrayContaining(tried));
      }),
    );
  });
});
