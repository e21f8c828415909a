import Big from 'big.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareMoney, isDecimal } from '#domain/money/money.ts';
import type { PricingTerms } from '#domain/pricing/pricing-rule.ts';
import { isSoldAtLoss, leastPrice, priceByTerms } from '#domain/pricing/suggested-price.ts';
import { cost, eur, rounding, suggested, terms, termsWith } from '#test/support/pricing-terms.ts';

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
