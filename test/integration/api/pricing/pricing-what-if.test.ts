import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { pricingRules } from '#db/schema.ts';
import { apiOfFile } from '#test/integration/api/support.ts';
import { postOnce } from '#test/support/api/keys.ts';
import { problemOf } from '#test/support/api/order-calls.ts';
import { GERMANY, RULES, suggestion, TERMS } from '#test/support/api/pricing-rules.ts';

const { api, caller } = await apiOfFile();

const line = z.looseObject({
  id: z.int(),
  old: z.looseObject({ suggested_price: suggestion }),
  new: z.looseObject({ price_for_reseller: z.looseObject({ amount: z.string() }), suggested_price: suggestion }),
  if_kept: z.looseObject({ below_minimum: z.boolean(), at_loss: z.boolean(), margin: z.unknown() }).nullable(),
});
const trial = z.looseObject({ data: z.array(line), summary: z.unknown() });

const eur = (amount: string) => ({ amount, currency: 'EUR' });
const ofAll = { target: { kind: 'default' }, currency: 'EUR' };

describe('a what-if call', () => {
  it('shows the effect of another price list and other rules, and changes nothing', async () => {
    await postOnce(caller, RULES, { ...GERMANY, terms: { ...TERMS, rounding: null } });
    const rules = () => api.database.run((db) => db.select().from(pricingRules));
    const before = await rules();

    const answer = await caller.post('/v1/pricing/what-if', {
      rules: [{ ...ofAll, terms: { margin: { percent: '10' }, minimum_margin: { amount: '0.50' } } }],
      price_list: [
        { kind: 'package', id: 101, price_for_reseller: eur('13.50') },
        { kind: 'vpn_plan', id: 7, price_for_reseller: eur('5') },
      ],
      selling_prices: [
        { kind: 'vpn_plan', id: 7, price: eur('4.99') },
        { kind: 'package', id: 103, price: eur('40') },
      ],
    });
    expect(answer.status).toBe(200);
    const { data, summary } = answer.read(trial);
    const prices = data.map(({ id, old, new: { price_for_reseller: cost, suggested_price: next } }) => {
      return [id, old.suggested_price?.amount, cost.amount, next?.amount];
    });
    expect(prices).toEqual([
      [101, '13.73', '13.50', '18.73'],
      [102, undefined, '3.455', '3.96'],
      [103, undefined, '31.00', '34.10'],
      [7, undefined, '5.00', '5.50'],
    ]);
    const below = { below_minimum: true, at_loss: false };
    const fine = { below_minimum: false, at_loss: false };
    const margin = (amount: string, percent: string) => ({ amount: { amount }, percent });
    expect(data.map(({ if_kept: kept }) => kept)).toMatchObject([
      { price: { amount: '13.73' }, margin: margin('0.23', '1.70'), minimum: { amount: '14.50' }, ...below },
      null,
      { price: { amount: '40.00' }, margin: margin('9.00', '29.03'), minimum: { amount: '31.50' }, ...fine },
      { price: { amount: '4.99' }, margin: margin('-0.01', '-0.20'), below_minimum: true, at_loss: true },
    ]);
    expect(summary).toEqual({ items: 4, changed: 4, without_suggestion: 0, below_minimum: 2, at_loss: 1 });
    expect(await rules()).toEqual(before);
    expect((await caller.get('/v1/packages/101')).body).toMatchObject({
      price_for_reseller: { amount: '9.80', currency: 'EUR' },
      suggested_price: { amount: '13.73' },
    });
  });

  it('refuses rules with the same target, unknown items, and two entries for one item', async () => {
    const refused = async (trial: object) => {
      const { status, errors } = problemOf(await caller.post('/v1/pricing/what-if', trial));
      expect(status).toBe(400);
      return errors?.map(({ field, message }) => [field, message]);
    };
    const tied = { ...ofAll, terms: {} };
    expect(await refused({ rules: [tied, tied] })).toEqual([['rules', 'has two rules for default EUR']]);
    const cost = { kind: 'package', id: 101, price_for_reseller: eur('1') };
    const price = { kind: 'vpn_plan', id: 7, price: eur('1') };
    // Entries of kinds that are not asked for keep their places.
    const notAsked = { ...cost, kind: 'vpn_plan', id: 7 };
    const unknown = { package_ids: [101], price_list: [notAsked, { ...cost, id: 998 }] };
    expect(await refused(unknown)).toEqual([['price_list.1', expect.any(String)]]);
    expect(await refused({ package_ids: [101, 999], price_list: [{ ...cost, id: 998 }] })).toEqual([
      ['package_ids.1', expect.any(String)],
      ['price_list.0', expect.any(String)],
    ]);
    // A package and a plan may have the same number.
    const price_list = [cost, { ...cost, kind: 'vpn_plan', id: 7 }, { ...cost, id: 7 }, cost];
    expect(await refused({ price_list, selling_prices: [price, price] })).toEqual([
      ['price_list.3', 'is the second entry for package 101'],
      ['selling_prices.1', 'is the second entry for vpn_plan 7'],
    ]);
  });
});
