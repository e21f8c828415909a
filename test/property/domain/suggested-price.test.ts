import Big from 'big.js';
import { describe, expect, it } from 'vitest';
import { compareMoney, isDecimal } from '#domain/money/money.ts';
import type { PricingTerms } from '#domain/pricing/pricing-rule.ts';
import { isSoldAtLoss, leastPrice, priceByTerms } from '#domain/pricing/suggested-price.ts';
import { assertForAll } from '#test/support/for-all.ts';
import { cost, eur, rounding, suggested, terms, termsWith } from '#test/support/pricing-terms.ts';

const markup = (percent: string, amount = '0') => ({ percent, amount });
const grid = (step: string, ending: string, direction: 'up' | 'nearest' = 'nearest') => ({ step, ending, direction });
const TO_FIVE = { margin: markup('0', '1.02'), rounding: grid('0.05', '0') };

describe('a suggested price', () => {
  it.each<[string, string, Partial<PricingTerms>, string]>([
    ['a percentage', '9.80', { margin: markup('35') }, '13.23'],
    ['a percentage and an amount', '9.80', { margin: markup('35', '0.50') }, '13.73'],
    ['the smallest unit where no rounding is set', '3.455', { margin: markup('30') }, '4.50'],
    ['the next .99', '9.80', { margin: markup('35'), rounding: grid('1', '0.99', 'up') }, '13.99'],
    ['a price that ends on .99 already', '13.99', { rounding: grid('1', '0.99', 'up') }, '13.99'],
    ['the nearest .99', '14.10', { rounding: grid('1', '0.99') }, '14.99'],
    ['the nearest five cents', '10.00', TO_FIVE, '11.00'],
    ['up where the nearest is below the minimum', '10.00', { ...TO_FIVE, minimumMargin: markup('0', '1.01') }, '11.05'],
    ['the minimum margin', '10.00', { margin: markup('5'), minimumMargin: markup('10', '0.80') }, '11.00'],
    ['the minimum price', '0.40', { margin: markup('50'), minimumPrice: '2.99' }, '2.99'],
    ['the first of the grid', '0.10', { rounding: grid('10', '9.99') }, '9.99'],
  ])('is raised to %s', (_what, price, some, expected) => {
    expect(suggested(eur(price), termsWith(some)).price).toEqual(eur(expected));
  });

  it('has no cents in a currency without cents', () => {
    const { price } = suggested({ amount: '100', currency: 'JPY' }, termsWith({ margin: markup('33.3') }));
    expect(price).toEqual({ amount: '134.00', currency: 'JPY' });
  });

  it('covers the cost and the minimum, for any terms', () => {
    assertForAll(cost, terms, (charged, by) => {
      const { price, margin } = suggested(charged, by);
      expect(isDecimal(price.amount)).toBe(true);
      expect(isSoldAtLoss(charged, price)).toBe(false);
      expect(new Big(price.amount).gte(leastPrice(charged, by).amount)).toBe(true);
      expect(new Big(price.amount).minus(charged.amount).gte(by.minimumMargin.amount)).toBe(true);
      const least = new Big(charged.amount).times(new Big(by.minimumMargin.percent).plus(100));
      expect(new Big(price.amount).times(100).gte(least)).toBe(true);
      expect(new Big(price.amount).gte(by.minimumPrice ?? '0')).toBe(true);
      expect(new Big(charged.amount).plus(margin.amount).eq(price.amount)).toBe(true);
    });
  });

  it('is on its grid, and less than a step above the unrounded price', () => {
    assertForAll(cost, terms, rounding, (charged, by, round) => {
      const { price, explanation } = suggested(charged, { ...by, rounding: round });
      expect(new Big(price.amount).minus(round.ending).mod(round.step).eq(0)).toBe(true);
      const before = explanation.findLast(({ step }) => step !== 'rounding')?.amount ?? '0';
      const moved = new Big(price.amount).minus(before);
      const isFirst = new Big(price.amount).eq(round.ending);
      expect(isFirst || moved.lt(round.step)).toBe(true);
      expect(round.direction === 'up' ? moved.gte(0) : moved.gt(new Big(round.step).times('-0.5'))).toBe(true);
    });
  });

  it('does not decrease when the service charges more', () => {
    assertForAll(cost, cost, terms, (one, other, by) => {
      const [low, high] = compareMoney(one, other) <= 0 ? [one, other] : [other, one];
      expect(compareMoney(suggested(low, by).price, suggested(high, by).price)).not.toBe(1);
    });
  });

  it('has an explanation that starts with the cost and ends with the price, and falls only by rounding', () => {
    assertForAll(cost, terms, (charged, by) => {
      const { price, explanation } = suggested(charged, by);
      expect(explanation[0]).toMatchObject({ step: 'cost' });
      expect(new Big(explanation[0]?.amount ?? '-1').eq(charged.amount)).toBe(true);
      expect(new Big(explanation.at(-1)?.amount ?? '-1').eq(price.amount)).toBe(true);
      const raised = explanation.filter(({ step }) => step !== 'rounding').map(({ amount }) => new Big(amount));
      expect(raised.every((amount, index) => index === 0 || amount.gte(raised[index - 1] ?? 0))).toBe(true);
    });
  });

  it('is missing when it exceeds our amounts', () => {
    expect(priceByTerms(eur('999999999999999'), termsWith({ margin: markup('1') }))).toBeUndefined();
  });
});

describe('the price limit of a suggestion', () => {
  it('permits the present cost, and covers cost and minimum margin at the limit', () => {
    assertForAll(cost, terms, (charged, by) => {
      const { price, maxPrice } = suggested(charged, by);
      expect(isDecimal(maxPrice.amount)).toBe(true);
      expect(compareMoney(charged, maxPrice)).not.toBe(1);
      expect(isSoldAtLoss(maxPrice, price)).toBe(false);
      expect(compareMoney(leastPrice(maxPrice, { ...by, minimumPrice: null }), price)).not.toBe(1);
      const drifted = new Big(charged.amount).times(new Big(by.maxPriceDriftPercent).plus(100)).div(100);
      expect(new Big(maxPrice.amount).lte(drifted)).toBe(true);
    });
  });

  it.each<[string, Partial<PricingTerms>, string]>([
    ['the drift, where the margin permits it', { maxPriceDriftPercent: '2.5' }, '10.25'],
    ['less', { minimumMargin: markup('0', '3.90'), maxPriceDriftPercent: '50' }, '10.10'],
  ])('equals %s', (_what, some, expected) => {
    expect(suggested(eur('10.00'), termsWith({ margin: markup('40'), ...some })).maxPrice).toEqual(eur(expected));
  });
});
