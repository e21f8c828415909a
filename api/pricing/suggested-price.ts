import * as z from 'zod';
import { currency, IDS, money, usd } from '#api/fields/fields.ts';
import { type Money, paddedMoney } from '#domain/money/money.ts';
import { type PricedItem, PRICING_TARGET_KINDS, type PricingRule } from '#domain/pricing/pricing-rule.ts';
import { type Margin, PRICING_STEPS, type RuledSuggestion, suggestPrice } from '#domain/pricing/suggested-price.ts';
import type { ServicePackage } from '#upstream/contract.ts';

export const margin = z
  .strictObject({
    amount: money.meta({ description: 'The price less `price_for_reseller`.' }),
    percent: z
      .string()
      .nullable()
      .meta({ description: 'Percentage of `price_for_reseller`; null when that is zero.', example: '42.76' }),
  })
  .meta({ id: 'Margin' });

const suggestedPrice = z
  .strictObject({
    amount: z.string().meta({ example: '13.99' }),
    currency,
    margin,
    max_price: money.meta({
      description:
        'Pass it as `max_price` when you sell at this price. If the service charges more then, the ' +
        'purchase is held and makes no loss.',
    }),
    rule: z
      .strictObject({
        id: z
          .string()
          .nullable()
          .meta({ description: 'Null: a rule of the request.', example: IDS.pricingRule.example }),
        version: z.int().nullable(),
        target: z.enum(PRICING_TARGET_KINDS).meta({ description: 'What the rule is for.' }),
      })
      .meta({ description: 'The applied rule.' }),
    explanation: z
      .array(
        z.strictObject({
          step: z.enum(PRICING_STEPS).meta({ description: 'The term of the rule; `cost` is the first step.' }),
          amount: money.meta({ description: 'The price after this step.' }),
          text: z.string(),
        }),
      )
      .meta({ description: 'The calculation of the price, step by step.' }),
  })
  .meta({ id: 'SuggestedPrice', description: 'A suggestion of your own rules; you decide what the customer pays.' });

export const suggestedPriceField = suggestedPrice.nullable().meta({
  description: 'Null when no pricing rule applies.',
  example: {
    amount: '13.99',
    currency: 'USD',
    margin: { amount: usd('4.19'), percent: '42.76' },
    max_price: usd('9.996'),
    rule: { id: IDS.pricingRule.example, version: 1, target: 'country' },
    explanation: [
      { step: 'cost', amount: usd('9.80'), text: 'The service charges 9.80 USD.' },
      { step: 'margin_percent', amount: usd('13.23'), text: '35 % of that are added.' },
      { step: 'margin_amount', amount: usd('13.73'), text: '0.50 USD are added.' },
      { step: 'rounding', amount: usd('13.99'), text: 'It is rounded up to 0.99 USD beyond a multiple of 1 USD.' },
    ],
  },
});

export function marginJson({ amount, percent }: Margin, code: string): z.input<typeof margin> {
  return { amount: { amount, currency: code }, percent };
}

export function suggestionJson(suggestion: RuledSuggestion | undefined): z.input<typeof suggestedPrice> | null {
  if (suggestion === undefined) return null;
  const { price, margin: left, maxPrice, rule, explanation } = suggestion;
  return {
    amount: price.amount,
    currency: price.currency,
    margin: marginJson(left, price.currency),
    max_price: maxPrice,
    rule: { id: rule.id ?? null, version: rule.version ?? null, target: rule.targetKind },
    explanation: explanation.map(({ step, amount, text }) => ({
      step,
      amount: { amount, currency: price.currency },
      text,
    })),
  };
}

export function suggestedPriceJson(item: PricedItem, rules: readonly PricingRule[]) {
  return suggestionJson(suggestPrice(item, rules));
}

export function pricedPackage(item: { id: number; countries: readonly string[]; price: Money }): PricedItem {
  return { kind: 'package', id: item.id, countries: item.countries, cost: paddedMoney(item.price) };
}

export function pricedPlan({ id, price }: { id: number; price: Money }): PricedItem {
  return { kind: 'vpn_plan', id, cost: paddedMoney(price) };
}

export function listedPrice<Item extends Pick<ServicePackage, 'price_for_reseller' | 'currency'>>(item: Item) {
  return { ...item, price: { amount: item.price_for_reseller, currency: item.currency } };
}
