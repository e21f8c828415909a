import Big from 'big.js';
import fc from 'fast-check';
import type { Money } from '#domain/money/money.ts';
import type { PricingTerms } from '#domain/pricing/pricing-rule.ts';
import { priceByTerms, type Suggestion } from '#domain/pricing/suggested-price.ts';

export const eur = (amount: string): Money => ({ amount, currency: 'EUR' });
const cents = (max: number) => fc.integer({ min: 0, max }).map((units) => (units / 100).toFixed(2));
/** Any cost, with all six digits, as a service may charge. */
export const cost = fc
  .bigInt({ min: 0n, max: 10n ** 10n })
  .map((units) => eur(new Big(units.toString()).div(1_000_000).toFixed()));
const percent = fc.integer({ min: 0, max: 300_0000 }).map((units) => new Big(units).div(10_000).toFixed());
const markup = fc.record({ percent, amount: cents(5_000) });
/** Any rounding that prices can reach. */
export const rounding = fc
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
export const terms: fc.Arbitrary<PricingTerms> = fc.record({
  margin: markup,
  minimumMargin: markup,
  minimumPrice: fc.option(cents(10_000)),
  rounding: fc.option(rounding),
  maxPriceDriftPercent: percent,
});

/** Terms that change nothing. */
const PLAIN: PricingTerms = {
  margin: { percent: '0', amount: '0' },
  minimumMargin: { percent: '0', amount: '0' },
  minimumPrice: null,
  rounding: null,
  maxPriceDriftPercent: '0',
};
export const termsWith = (some: Partial<PricingTerms>): PricingTerms => ({ ...PLAIN, ...some });

/** The suggestion by these terms, which must exist. */
export function suggested(price: Money, by: PricingTerms): Suggestion {
  const suggestion = priceByTerms(price, by);
  if (suggestion === undefined) throw new Error('no suggestion');
  return suggestion;
}
