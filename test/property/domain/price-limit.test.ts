import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Money } from '#domain/money/money.ts';
import { isWithin, looserLimit, type PriceLimit } from '#domain/purchase/send-claim.ts';
import { assertForAll } from '#test/support/for-all.ts';

const cents = fc.integer({ min: 0, max: 1_000 });
const money = (amount: number, currency = 'USD'): Money => ({ amount: (amount / 100).toFixed(2), currency });
const limit: fc.Arbitrary<PriceLimit> = fc.option(cents.map((amount) => money(amount)));

describe('a price limit', () => {
  it('permits prices up to it, and every price without a limit', () => {
    assertForAll(cents, cents, (most, price) => isWithin(money(most), money(price)) === price <= most);
    assertForAll(cents, (price) => isWithin(null, money(price)));
  });

  it('in another currency permits nothing, because the two are not comparable', () => {
    assertForAll(cents, cents, (most, price) => !isWithin(money(most, 'EUR'), money(price)));
  });

  it('of two sends that may both have bought permits the prices of either', () => {
    assertForAll(limit, limit, cents, (earlier, later, amount) => {
      const price = money(amount);
      expect(isWithin(looserLimit(earlier, later), price)).toBe(isWithin(earlier, price) || isWithin(later, price));
    });
  });

  it('of two different currencies is the later one', () => {
    expect(looserLimit(money(100, 'EUR'), money(5))).toEqual(money(5));
    expect(looserLimit(money(5), money(100, 'EUR'))).toEqual(money(100, 'EUR'));
  });
});
