import * as z from 'zod';
import { freshness, freshnessExample } from '#api/fields/freshness.ts';
import { packageId } from '#api/fields/ids.ts';
import { currency, money, moneyInput } from '#api/fields/money.ts';
import { pricingRuleInput } from '#api/pricing/pricing-rule-schemas.ts';
import { margin, suggestedPriceExample, suggestedPriceField } from '#api/pricing/suggested-price.ts';

const MAX_ITEMS = 5_000;

const MAX_RULES = 500;

const kind = z.enum(['package', 'vpn_plan']);

const id = packageId.meta({ description: 'Id of the package or plan at the service.', example: 101 });

export const whatIfInput = z
  .strictObject({
    package_ids: z
      .array(packageId)
      .max(MAX_ITEMS)
      .optional()
      .meta({ description: 'Only these. Without this and `vpn_plan_ids`: everything.' }),
    vpn_plan_ids: z
      .array(packageId.meta({ description: 'Id of a VPN plan at the service.', example: 7 }))
      .max(MAX_ITEMS)
      .optional()
      .meta({ description: 'Only these.' }),
    rules: z
      .array(pricingRuleInput)
      .max(MAX_RULES)
      .default([])
      .meta({ description: 'Rules to try. None of them is stored.' }),
    rules_replace: z
      .enum(['same', 'all'])
      .default('same')
      .meta({
        description:
          '`same`: each takes the place of the rule in force for the same target and currency, if there is one. ' +
          '`all`: they count alone.',
      }),
    price_list: z
      .array(
        z
          .strictObject({ kind, id, price_for_reseller: moneyInput.shape.amount, currency: currency.optional() })
          .meta({ id: 'TriedCost' }),
      )
      .max(MAX_ITEMS)
      .default([])
      .meta({ description: 'What the service would charge. What is not in it stays at its present price.' }),
    selling_prices: z
      .array(z.strictObject({ kind, id, ...moneyInput.shape }).meta({ id: 'PresentSellingPrice' }))
      .max(MAX_ITEMS)
      .default([])
      .meta({ description: 'What you ask for now, where that is not what the rules suggest.' }),
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
    changed: z
      .boolean()
      .meta({ description: 'True when the two suggest different prices, or only one of them suggests any.' }),
    if_kept: z
      .strictObject({
        price: money.meta({ description: 'The selling price of the request, else what the rules suggest now.' }),
        margin,
        minimum: money.meta({ description: 'What the new rule asks for at least; the new cost where none applies.' }),
        below_minimum: z.boolean(),
        at_loss: z.boolean(),
      })
      .nullable()
      .meta({
        description:
          'What comes of it when the present selling price stays. Null where there is none in the currency of ' +
          'the new cost.',
      }),
  })
  .meta({ id: 'WhatIfLine' });

export const whatIfOutput = z
  .strictObject({
    data: z.array(whatIfLine).meta({ description: 'All that was asked for: packages, then plans, by id.' }),
    summary: z.strictObject({
      items: z.int(),
      changed: z.int(),
      without_suggestion: z.int().meta({ description: 'No new rule applies to them.' }),
      below_minimum: z.int().meta({ description: 'Would fall below the minimum at their present selling price.' }),
      at_loss: z.int().meta({ description: 'Would be sold below what the service charges.' }),
    }),
    ...freshness,
  })
  .meta({ id: 'WhatIf' });

const money980: z.input<typeof money> = { amount: '9.80', currency: 'EUR' };

export const whatIfExample: z.input<typeof whatIfOutput> = {
  data: [
    {
      kind: 'package',
      id: 101,
      name: 'Europe 5 GB',
      old: { price_for_reseller: money980, suggested_price: suggestedPriceExample },
      new: {
        price_for_reseller: { amount: '13.50', currency: 'EUR' },
        suggested_price: {
          ...suggestedPriceExample,
          amount: '18.99',
          margin: { amount: '5.49', percent: '40.67' },
          max_price: { amount: '13.77', currency: 'EUR' },
          explanation: [
            { step: 'cost', amount: '13.50', text: 'The service charges 13.50 EUR.' },
            { step: 'margin_percent', amount: '18.225', text: '35 % of that are added.' },
            { step: 'margin_amount', amount: '18.725', text: '0.50 EUR are added.' },
            { step: 'rounding', amount: '18.99', text: 'It is rounded up to 0.99 EUR beyond a multiple of 1 EUR.' },
          ],
        },
      },
      changed: true,
      if_kept: {
        price: { amount: '13.99', currency: 'EUR' },
        margin: { amount: '0.49', percent: '3.63' },
        minimum: { amount: '14.50', currency: 'EUR' },
        below_minimum: true,
        at_loss: false,
      },
    },
  ],
  summary: { items: 1, changed: 1, without_suggestion: 0, below_minimum: 1, at_loss: 0 },
  ...freshnessExample,
};
