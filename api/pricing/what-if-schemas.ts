import * as z from 'zod';
import { freshness } from '#api/fields/freshness.ts';
import { packageId } from '#api/fields/ids.ts';
import { money, moneyInput } from '#api/fields/money.ts';
import { pricingRuleInput } from '#api/pricing/pricing-rule-schemas.ts';
import { margin, suggestedPriceField } from '#api/pricing/suggested-price.ts';

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
  z
    .strictObject({
      price_for_reseller: money.meta({ example: { amount: '9.80', currency: 'USD' } }),
      suggested_price: suggestedPriceField,
    })
    .meta({ id: name });

export const whatIfLine = z
  .strictObject({
    kind,
    id,
    name: z.string().meta({ example: 'Europe 5 GB' }),
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
      items: z.int().meta({ example: 1 }),
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
