import * as z from 'zod';
import { country, currency, instant, instantJson, ourId, packageId, unsignedDecimal } from '#api/fields/fields.ts';
import { PRICING_CHANGES } from '#db/schema.ts';
import { isUnsignedDecimal } from '#domain/money/money.ts';
import { termsProblems, type PricingRule, type PricingTerms } from '#domain/pricing/pricing-rule.ts';
import type { PricingRuleRow, PricingRuleVersionRow } from '#fulfilment/pricing/pricing-rules.ts';

export const termsExample = {
  margin: { percent: '35', amount: '0.50' },
  minimum_margin: { percent: '0', amount: '1.00' },
  minimum_price: '2.99',
  rounding: { step: '1', ending: '0.99', direction: 'up' },
  max_price_drift_percent: '2',
} as const;

const amountInput = unsignedDecimal.meta({ description: 'In the currency of the rule.', example: '0.50' });

function patternUpTo(power: string): string {
  return `^((0|[1-9][0-9]{0,${power.length - 2}})(\\.[0-9]{1,6})?|${power}(\\.0{1,6})?)$`;
}

/** A higher percentage is a typing error: the price would be a hundred times the cost. */
const percentInput = z
  .string()
  .refine((text) => isUnsignedDecimal(text) && Number(text) <= 10_000, {
    message: 'must be a decimal in a string, from 0 to 10000',
  })
  .meta({
    description: 'Of `price_for_reseller`, in percent.',
    example: '35',
    override: { pattern: patternUpTo('10000') },
  });

const markupInput = (id: string, description: string) =>
  z
    .strictObject({ percent: percentInput.default('0'), amount: amountInput.default('0') })
    .meta({ id, description })
    .default({ percent: '0', amount: '0' });

const pricingTarget = z
  .discriminatedUnion(
    'kind',
    [
      z.strictObject({ kind: z.literal('default') }),
      z.strictObject({ kind: z.literal('country'), country }),
      z.strictObject({ kind: z.literal('package'), package_id: packageId }),
      z.strictObject({
        kind: z.literal('vpn_plan'),
        vpn_plan_id: packageId.meta({ description: 'Id of a VPN plan at the service.', example: 301 }),
      }),
    ],
    { error: 'must be one of "default", "country", "package", "vpn_plan"' },
  )
  .meta({
    id: 'PricingTarget',
    example: { kind: 'country', country: 'DE' },
    description:
      'The target of a rule. The most specific rule applies: that of the package or plan, else of a country of ' +
      'the package, else the default.',
  });

const roundingInput = z
  .strictObject({
    step: amountInput
      .refine((text) => Number(text) <= 1_000_000, { message: 'must be at most 1000000' })
      .meta({ example: '1', override: { pattern: patternUpTo('1000000') } }),
    ending: amountInput.default('0').meta({ description: 'Less than the step.', example: '0.99' }),
    direction: z.enum(['up', 'nearest']).default('up').meta({ description: 'Never below the minimum in both cases.' }),
  })
  .meta({
    id: 'PriceRounding',
    description: 'Prices end on a multiple of `step`, plus `ending`: .99 is a step of 1 with the ending 0.99.',
  });

export const pricingTermsInput = z
  .strictObject({
    margin: markupInput('PricingMargin', 'Added to `price_for_reseller`: a percentage and an amount.'),
    minimum_margin: markupInput('PricingMinimumMargin', 'Minimum margin of a suggestion: both must be met.'),
    minimum_price: amountInput
      .nullable()
      .default(null)
      .meta({ description: 'Minimum of a suggested price.', example: '2.99' }),
    rounding: roundingInput
      .nullable()
      .default(null)
      .meta({ description: 'Null: rounded up to the smallest unit of the currency.' }),
    max_price_drift_percent: percentInput.default('0').meta({
      description: 'Percentage by which the price of the service may rise: gives `max_price` of the suggestion.',
      example: '2',
    }),
  })
  .meta({ id: 'PricingTermsInput', example: termsExample });

export const pricingRuleInput = z
  .strictObject({ target: pricingTarget, currency, terms: pricingTermsInput })
  .meta({ id: 'PricingRuleInput', description: 'Applies only to prices in its currency.' });

const markupOutput = (id: string) => z.strictObject({ percent: z.string(), amount: z.string() }).meta({ id });

const pricingTerms = z
  .strictObject({
    margin: markupOutput('PricingMarginOutput'),
    minimum_margin: markupOutput('PricingMinimumMarginOutput'),
    minimum_price: z.string().nullable(),
    rounding: z
      .strictObject({
        step: z.string(),
        ending: z.string(),
        direction: z.enum(['up', 'nearest']).meta({ description: 'Never below the minimum in both cases.' }),
      })
      .nullable(),
    max_price_drift_percent: z.string(),
  })
  .meta({ id: 'PricingTerms', example: termsExample });

export const pricingRuleOutput = z
  .strictObject({
    id: ourId('pricingRule'),
    target: pricingTarget,
    currency,
    terms: pricingTerms,
    version: z.int().meta({ description: 'Number of the version, from 1.', example: 1 }),
    created_at: instant,
    updated_at: instant,
    ended_at: instant.nullable(),
  })
  .meta({ id: 'PricingRule' });

export const pricingRuleVersion = z
  .strictObject({
    version: z.int(),
    change: z.enum(PRICING_CHANGES).meta({ description: 'What made this version.' }),
    terms: pricingTerms.meta({ description: 'Terms of this version; those of an ended rule are its last ones.' }),
    changed_by: z.string().meta({ description: 'Id of an API key.' }),
    reason: z.string(),
    created_at: instant,
  })
  .meta({
    id: 'PricingRuleVersion',
    example: { version: 1, changed_by: 'key_01JQ8Z9E5F6G7H8J9K0MNPQRST', reason: 'Prices of the spring.' },
  });

/** Errors that the schema of the fields cannot detect. */
export function termsErrors(terms: PricingTerms, field: string) {
  return termsProblems(terms).map((problem) => ({
    in: 'body' as const,
    field: `${field}.${problem.field}`,
    message: problem.message,
  }));
}

function keyOf(target: z.output<typeof pricingTarget>): string {
  if (target.kind === 'default') return '';
  if (target.kind === 'country') return target.country;
  return String(target.kind === 'package' ? target.package_id : target.vpn_plan_id);
}

export function termsFrom(terms: z.output<typeof pricingTermsInput>): PricingTerms {
  return {
    margin: terms.margin,
    minimumMargin: terms.minimum_margin,
    minimumPrice: terms.minimum_price,
    rounding: terms.rounding,
    maxPriceDriftPercent: terms.max_price_drift_percent,
  };
}

export function ruleFrom({ target, currency: code, terms }: z.output<typeof pricingRuleInput>): PricingRule {
  return { targetKind: target.kind, targetKey: keyOf(target), currency: code, terms: termsFrom(terms) };
}

function targetJson({ targetKind: kind, targetKey: key }: PricingRule): z.input<typeof pricingTarget> {
  if (kind === 'default') return { kind };
  if (kind === 'country') return { kind, country: key };
  return kind === 'package' ? { kind, package_id: Number(key) } : { kind, vpn_plan_id: Number(key) };
}

function termsJson(terms: PricingTerms): z.input<typeof pricingTerms> {
  return {
    margin: terms.margin,
    minimum_margin: terms.minimumMargin,
    minimum_price: terms.minimumPrice,
    rounding: terms.rounding,
    max_price_drift_percent: terms.maxPriceDriftPercent,
  };
}

export function pricingRuleJson(rule: PricingRuleRow): z.input<typeof pricingRuleOutput> {
  return {
    id: rule.id,
    target: targetJson(rule),
    currency: rule.currency,
    terms: termsJson(rule.terms),
    version: rule.version,
    created_at: rule.createdAt.toISOString(),
    updated_at: rule.updatedAt.toISOString(),
    ended_at: instantJson(rule.endedAt),
  };
}

export function pricingRuleVersionJson(row: PricingRuleVersionRow): z.input<typeof pricingRuleVersion> {
  const { version, change, terms, actor, reason, at } = row;
  return { version, change, terms: termsJson(terms), changed_by: actor, reason, created_at: at.toISOString() };
}
