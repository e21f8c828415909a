import * as z from 'zod';

export const RULES = '/v1/pricing/rules';
export const TERMS = {
  margin: { percent: '35', amount: '0.50' },
  minimum_margin: { percent: '0', amount: '1.00' },
  minimum_price: '2.99',
  rounding: { step: '1', ending: '0.99', direction: 'up' },
  max_price_drift_percent: '2',
};
export const GERMANY = {
  target: { kind: 'country', country: 'DE' },
  currency: 'EUR',
  terms: TERMS,
  reason: 'Prices of the spring.',
};
/** The suggested price of an item, if there is one. */
export const suggestion = z
  .looseObject({
    amount: z.string(),
    max_price: z.unknown(),
    rule: z.looseObject({ id: z.string().nullable(), target: z.string() }),
  })
  .nullable();
