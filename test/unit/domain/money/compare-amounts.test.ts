import { describe, expect, it } from 'vitest';
import { compareAmounts, isOtherMoney, type AmountComparison } from '#domain/money/money.ts';
import { usd } from '#test/support/work/books/reconciliation.ts';

describe('two amounts that should be the same', () => {
  it.each<[string, string, AmountComparison]>([
    ['2.40', '2.40', 'equal'],
    ['2.4', '2.400000', 'equal'],
    ['0.00', '0', 'equal'],
    ['2.40', '24', 'other_unit'],
    ['2.40', '240', 'other_unit'],
    ['2.40', '2400', 'other_unit'],
    ['2.40', '0.24', 'other_unit'],
    ['2.40', '0.024', 'other_unit'],
    ['2.40', '0.0024', 'other_unit'],
    ['0.01', '1', 'other_unit'],
    // Rounded to whole cents.
    ['4.125', '413', 'other_unit'],
    ['412', '4.115', 'other_unit'],
    ['2.40', '24000', 'differs'],
    ['2.40', '2.39', 'differs'],
    ['2.40', '2.47', 'differs'],
    ['2.40', '241', 'differs'],
    ['2.40', '1.00', 'differs'],
    ['2.40', '0.00', 'differs'],
    ['0.00', '2.40', 'differs'],
    ['0.04', '0', 'differs'],
    // Half a cent may be rounded to one, but one is no evidence of a factor.
    ['0.05', '1', 'differs'],
    ['2.40', '-240', 'differs'],
  ])('%s and %s: %s, in either order', (one, other, result) => {
    expect(compareAmounts(usd(one), usd(other))).toBe(result);
    expect(compareAmounts(usd(other), usd(one))).toBe(result);
  });

  it('in two currencies are of another currency, even with the same figure', () => {
    expect(compareAmounts(usd('2.40'), { amount: '2.40', currency: 'EUR' })).toBe('other_currency');
    expect(compareAmounts(usd('0'), { amount: '0', currency: 'EUR' })).toBe('other_currency');
  });

  it.each<[AmountComparison, boolean]>([
    ['equal', false],
    ['differs', false],
    ['other_unit', true],
    ['other_currency', true],
  ])('%s stops buying: %s', (comparison, stops) => {
    expect(isOtherMoney(comparison)).toBe(stops);
  });
});
