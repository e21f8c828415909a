import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { problemSchema } from '#api/problems/problem-schema.ts';
import { pricingRules } from '#db/schema.ts';
import { GERMANY, RULES, suggestion, TERMS } from '#test/support/api/pricing-rules.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startTestApi } from '#test/support/network/api.ts';

const api = disposedAtEnd(await startTestApi());
const caller = await api.caller();

const line = z.looseObject({
  id: z.int(),
  old: z.looseObject({ suggested_price: suggestion }),
  new: z.looseObject({ price_for_reseller: z.looseObject({ amount: z.string() }), suggested_price: suggestion }),
  if_kept: z.looseObject({ below_minimum: z.boolean(), at_loss: z.boolean(), margin: z.unknown() }).nullable(),
});
const trial = z.looseObject({ data: z.array(line), summary: z.unknown() });

describe('a what-if call', () => {
  it('shows the effect of another price list and other rules, and changes nothing', async () => {
    await using own = await startTestApi();
    const mine = await own.caller();
    await mine.post(
      RULES,
      { ...GERMANY, terms: { ...TERMS, rounding: null } },
      { headers: { 'Idempotency-Key': '1' } },
    );
    const before = await own.database.run((db) => db.select().from(pricingRules));

    const answer = await mine.post('/v1/pricing/what-if', {
      rules: [
        {
          target: { kind: 'default' },
          currency: 'EUR',
          terms: { margin: { percent: '10' }, minimum_margin: { amount: '0.50' } },
        },
      ],
      price_list: [
        { kind: 'package', id: 101, price_for_reseller: { amount: '13.50', currency: 'EUR' } },
        { kind: 'vpn_plan', id: 7, price_for_reseller: { amount: '5', currency: 'EUR' } },
      ],
      selling_prices: [
        { kind: 'vpn_plan', id: 7, price: { amount: '4.99', currency: 'EUR' } },
        { kind: 'package', id: 103, price: { amount: '40', currency: 'EUR' } },
      ],
    });
    expect(answer.status).toBe(200);
    const { data, summary } = answer.read(trial);
    expect(
      data.map(({ id, old, new: next }) => [
        id,
        old.suggested_price?.amount,
        next.price_for_reseller.amount,
        next.suggested_price?.amount,
      ]),
    ).toEqual([
      [101, '13.73', '13.50', '18.73'],
      [102, undefined, '3.455', '3.96'],
      [103, undefined, '31.00', '34.10'],
      [7, undefined, '5.00', '5.50'],
    ]);
    expect(data.map(({ if_kept: kept }) => kept)).toMatchObject([
      {
        price: { amount: '13.73' },
        margin: { amount: { amount: '0.23' }, percent: '1.70' },
        minimum: { amount: '14.50' },
        below_minimum: true,
        at_loss: false,
      },
      null,
      {
        price: { amount: '40.00' },
        margin: { amount: { amount: '9.00' }, percent: '29.03' },
        minimum: { amount: '31.50' },
        below_minimum: false,
        at_loss: false,
      },
      {
        price: { amount: '4.99' },
        margin: { amount: { amount: '-0.01' }, percent: '-0.20' },
        below_minimum: true,
        at_loss: true,
      },
    ]);
    expect(summary).toEqual({ items: 4, changed: 4, without_suggestion: 0, below_minimum: 2, at_loss: 1 });
    expect(await own.database.run((db) => db.select().from(pricingRules))).toEqual(before);
    expect((await mine.get('/v1/packages/101')).body).toMatchObject({
      price_for_reseller: { amount: '9.80', currency: 'EUR' },
      suggested_price: { amount: '13.73' },
    });
  });

  it('refuses rules with the same target, and unknown items', async () => {
    const tied = { target: { kind: 'default' }, currency: 'EUR', terms: {} };
    const ties = await caller.post('/v1/pricing/what-if', { rules: [tied, tied] });
    expect(ties.read(problemSchema).errors).toEqual([
      { in: 'body', field: 'rules', message: 'has two rules for default EUR' },
    ]);
    const unknown = await caller.post('/v1/pricing/what-if', {
      package_ids: [101, 999],
      price_list: [{ kind: 'package', id: 998, price_for_reseller: { amount: '1', currency: 'EUR' } }],
    });
    expect(unknown.read(problemSchema).errors?.map(({ field }) => field)).toEqual(['package_ids.1', 'price_list.0']);
  });

  it('refuses two entries for one item, because one would be ignored', async () => {
    const cost = { kind: 'package', id: 101, price_for_reseller: { amount: '1', currency: 'EUR' } };
    const price = { kind: 'vpn_plan', id: 7, price: { amount: '1', currency: 'EUR' } };
    // A package and a plan may have the same number.
    const price_list = [
      cost,
      { ...cost, kind: 'vpn_plan', id: 7 },
      { ...cost, id: 7 },
      { ...cost, price_for_reseller: { amount: '2', currency: 'EUR' } },
    ];
    const answer = await caller.post('/v1/pricing/what-if', { price_list, selling_prices: [price, price] });
    expect([answer.status, answer.read(problemSchema).errors]).toEqual([
      400,
      [
        { in: 'body', field: 'price_list.3', message: 'is the second entry for package 101' },
        { in: 'body', field: 'selling_prices.1', message: 'is the second entry for vpn_plan 7' },
      ],
    ]);
  });
});
