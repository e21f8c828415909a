import Big from 'big.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareAmounts } from '#domain/money/money.ts';

const positive = fc.integer({ min: 1, max: 10 ** 9 });
const decimals = fc.integer({ min: 0, max: 3 });
const amount = fc.tuple(positive, decimals).map(([figure, places]) => new Big(figure).div(10 ** places));
const currency = fc.constantFrom('USD', 'EUR');
const money = (value: Big, code = 'USD') => ({ amount: value.toFixed(), currency: code });

describe('the comparison of two amounts', () => {
  it('is the same in either order', () => {
    fc.assert(
      fc.property(amount, amount, currency, currency, (one, other, oneCode, otherCode) => {
        expect(compareAmounts(money(one, oneCode), money(other, otherCode))).toBe(
          compareAmounts(money(other, otherCode), money(one, oneCode)),
        );
      }),
    );
  });

  it('is equal only for the same value in the same currency', () => {
    fc.assert(
      fc.property(amount, amount, currency, currency, (one, other, oneCode, otherCode) => {
        const isSame = oneCode === otherCode && one.eq(other);
        expect(compareAmounts(money(one, oneCode), money(other, otherCode)) === 'equal').toBe(isSame);
      }),
    );
  });

  it('finds a factor of 10, 100 and 1,000, exact or rounded to a whole number', () => {
    fc.assert(
      fc.property(amount, fc.constantFrom(10, 100, 1_000), fc.boolean(), (one, factor, rounds) => {
        const exact = one.times(factor);
        const other = rounds && exact.gte(10) ? exact.round(0) : exact;
        fc.pre(!other.eq(one));
        expect(compareAmounts(money(one), money(other))).toBe('other_unit');
      }),
    );
  });

  it('finds no factor in a fee of up to half of the price', () => {
    fc.assert(
      fc.property(amount, fc.integer({ min: -500, max: 500 }), (one, permille) => {
        const other = one.times(1_000 + permille).div(1_000);
        fc.pre(!other.eq(one));
        expect(compareAmounts(money(one), money(other))).toBe('differs');
      }),
    );
  });

  it('finds no factor in a zero', () => {
    fc.assert(
      fc.property(amount, (one) => {
        expect(compareAmounts(money(one), money(new Big(0)))).toBe('differs');
      }),
    );
  });
});
