import * as z from 'zod';
import { freshness, freshnessExample } from '#api/fields/freshness.ts';
import { packageId } from '#api/fields/ids.ts';
import { money, moneyInput } from '#api/fields/money.ts';
import { pricingRuleInput } from '#api/pricing/pricing-rule-schemas.ts';
import { margin, suggestedPriceExample, suggestedPriceField } from '#api/pricing/suggested-price.ts';

/** With these bounds the longest body is shorter than the default of API_BODY_LIMIT. */
const MAX_ITEMS = 1_000;
const MAX_RULES = 100;

const kind = z.enum(['package', 'vpn_plan']).meta({ description: 'What `id` is the id of.' });

const id = packageId.meta({ description: 'Id of the package or plan at the service.', example: 1001 });

export const whatIfInput = z
  .strictObject({
    package_ids: z
      .array(packageId)
      .max(MAX_ITEMS)
      .optional()
      .meta({ description: 'Only these packages. Without this and `vpn_plan_ids`: everything.' }),
    vpn_plan_ids: z
      .array(packageId.meta({ description: 'Id of a VPN plan at the service.', example: 301 }))
      .max(MAX_ITEMS)
      .optional()
      .meta({ description: 'Only these.' }),
    rules: z
      .array(pricingRuleInput)
      .max(MAX_RULES)
      .default([])
      .meta({ description: 'Rules to try; they are not stored.' }),
    rules_replace: z
      .enum(['same', 'all'])
      .default('same')
      .meta({
        description:
          '`same`: each replaces the active rule for the same target and currency, if there is one. ' +
          '`all`: only these rules apply.',
      }),
    price_list: z
      .array(z.strictObject({ kind, id, price_for_reseller: moneyInput }).meta({ id: 'TriedCost' }))
      .max(MAX_ITEMS)
      .default([])
      .meta({ description: 'Prices of the service to try. Other items keep their current price.' }),
    selling_prices: z
      .array(z.strictObject({ kind, id, price: moneyInput }).meta({ id: 'PresentSellingPrice' }))
      .max(MAX_ITEMS)
      .default([])
      .meta({ description: 'Your current selling prices, if they differ from the suggestions.' }),
  })
  .meta({ id: 'WhatIfInput' });

const side = (name: string) =>
  z.strictObject({ price_for_reseller: money, suggested_price: suggestedPriceField }).meta({ id: name });

export const whatIfLine = z
  .strictObject({
    kind,
    id,
    name: z.string(),
    old: side('PriceBefore'),
    new: side('PriceAfter'),
    changed: z.boolean().meta({ description: 'True when the suggestions differ, or only one exists.' }),
    if_kept: z
      .strictObject({
        price: money.meta({ description: 'The selling price of the request, else the current suggestion.' }),
        margin,
        minimum: money.meta({ description: 'Minimum price of the new rule; the new cost when none applies.' }),
        below_minimum: z.boolean(),
        at_loss: z.boolean(),
      })
      .nullable()
      .meta({
        description:
          'The result with the current selling price. Null when there is none in the currency of the new cost.',
      }),
  })
  .meta({ id: 'WhatIfLine' });

export const whatIfOutput = z
  .strictObject({
    data: z.array(whatIfLine).meta({ description: 'All requested items: packages, then plans, by id.' }),
    summary: z.strictObject({
      items: z.int(),
      changed: z.int(),
      without_suggestion: z.int().meta({ description: 'Number of items without a new rule.' }),
      below_minimum: z
        .int()
        .meta({ description: 'Number of items whose current selling price would be below the minimum.' }),
      at_loss: z.int().meta({ description: 'Number of items that would be sold below the price of the service.' }),
    }),
    ...freshness,
  })
  .meta({ id: 'WhatIf' });

const money980: z.input<typeof money> = { amount: '9.80', currency: 'EUR' };

export const whatIfExample: z.input<typeof whatIfOutput> = {
  data: [
    {
      kind: 'package',
      id: 1001,
      name: 'Europe 5 GB',
      old: { price_for_reseller: money980, suggested_price: suggestedPriceExample },
      new: {
        price_for_reseller: { amount: '13.50', currency: 'EUR' },
        suggested_price: {
          ...suggestedPriceExample,
          amount: '18.99',
          margin: { amount: { amount: '5.49', currency: 'EUR' }, percent: '40.67' },
          max_price: { amount: '13.77', currency: 'EUR' },
          explanation: [
            { step: 'cost', amount: { amount: '13.50', currency: 'EUR' }, text: 'The service charges 13.50 EUR.' },
            { step: 'margin_percent', amount: { amount: '18.225', currency: 'EUR' }, text: '35 % of that are added.' },
            { step: 'margin_amount', amount: { amount: '18.725', currency: 'EUR' }, text: '0.50 EUR are added.' },
            {
              step: 'rounding',
              amount: { amount: '18.99', currency: 'EUR' },
              text: 'It is rounded up to 0.99 EUR beyond a multiple of 1 EUR.',
            },
          ],
        },
      },
      changed: true,
      if_kept: {
        price: { amount: '13.99', currency: 'EUR' },
        margin: { amount: { amount: '0.49', currency: 'EUR' }, percent: '3.63' },
        minimum: { amount: '14.50', currency: 'EUR' },
        below_minimum: true,
        at_loss: false,
      },
    },
  ],
  summary: { items: 1, changed: 1, without_suggestion: 0, below_minimum: 1, at_loss: 0 },
  ...freshnessExample,
};
