import * as z from 'zod';
import type { StoredCatalogue } from '#api/catalogue/stored-catalogue.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import { ageOf, freshness, money, moneyInput, packageId, usd } from '#api/fields/fields.ts';
import { jsonAnswer, type Operation, operation } from '#api/http/operation.ts';
import { jsonReply } from '#api/http/reply.ts';
import { pricingRuleInput, ruleFrom, termsErrors, termsExample } from '#api/pricing/pricing-rule-schemas.ts';
import {
  margin,
  marginJson,
  pricedPackage,
  pricedPlan,
  suggestedPriceField,
  suggestionJson,
} from '#api/pricing/suggested-price.ts';
import { type FieldError, invalid } from '#api/problems/problem.ts';
import { STORED_ITEMS } from '#db/catalogue/catalogue.ts';
import { type Money, paddedMoney } from '#domain/money/money.ts';
import { type PricedItem, type PricingRule, tiedRules } from '#domain/pricing/pricing-rule.ts';
import { reprice, type Repriced, withRules } from '#domain/pricing/suggested-price.ts';
import { rulesInForce } from '#fulfilment/pricing/pricing-rules.ts';

/** With these bounds the longest body is shorter than the default of API_BODY_LIMIT. */
const MAX_ITEMS = 1_000;
const MAX_RULES = 100;

const kind = z.enum(['package', 'vpn_plan']).meta({ description: 'What `id` is the id of.' });

const id = packageId.meta({ description: 'Id of the package or plan at the service.', example: 1001 });

const whatIfInput = z
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
      price_for_reseller: money.meta({ example: usd('9.80') }),
      suggested_price: suggestedPriceField,
    })
    .meta({ id: name });

const whatIfLine = z
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

const whatIfOutput = z
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

interface Listed {
  readonly name: string;
  readonly item: PricedItem;
}

export function whatIfOperation({ database, now }: ApiDependencies, catalogue: StoredCatalogue): Operation {
  return operation('POST /v1/pricing/what-if', {
    id: 'tryPricing',
    summary: 'Try other rules or another price list',
    description:
      'Shows the old and the new suggestion of each package and plan with their margins, and which would fall below ' +
      'the minimum if its selling price did not change. Nothing is stored or changed, so no Idempotency-Key is needed.',
    scope: 'pricing:read',
    heavy: 'many',
    body: whatIfInput,
    bodyExample: {
      package_ids: [1001],
      rules: [{ target: { kind: 'default' }, currency: 'USD', terms: termsExample }],
    },
    answers: { 200: jsonAnswer('The trial.', whatIfOutput) },
    problems: ['service_failed', 'service_unavailable', 'service_timeout'],
    handle: async ({ body }) => {
      const tried: PricingRule[] = body.rules.map(ruleFrom);
      const problems = [...ruleErrors(tried), ...doubles(body, 'price_list'), ...doubles(body, 'selling_prices')];
      if (problems.length > 0) throw invalid(problems);

      const isAll = body.package_ids === undefined && body.vpn_plan_ids === undefined;
      const listed: Listed[] = [];
      let oldest = now();
      if (isAll || body.package_ids !== undefined) {
        oldest = Math.min(oldest, await catalogue.readAt('packages'));
        const items = await database.run(STORED_ITEMS.packages.listed);
        listed.push(...items.map((each) => ({ name: each.name, item: pricedPackage(each) })));
      }
      if (isAll || body.vpn_plan_ids !== undefined) {
        oldest = Math.min(oldest, await catalogue.readAt('vpn_plans'));
        const items = await database.run(STORED_ITEMS.vpn_plans.listed);
        listed.push(...items.map((each) => ({ name: each.name, item: pricedPlan(each) })));
      }
      const unknown = unknownIds(body, listed);
      if (unknown.length > 0) throw invalid(unknown);

      const asked = { package: body.package_ids, vpn_plan: body.vpn_plan_ids };
      const rules = await database.run(rulesInForce);
      const newRules = body.rules_replace === 'all' ? tried : withRules(rules, tried);
      const costs = new Map(body.price_list.map((each) => [nameOf(each), each]));
      const selling = new Map(body.selling_prices.map((each) => [nameOf(each), paddedMoney(each.price)]));
      const trials = listed
        .filter(({ item }) => isAll || asked[item.kind]?.includes(item.id) === true)
        .map(({ name, item }) => {
          const cost = costs.get(nameOf(item));
          const newCost = cost === undefined ? item.cost : paddedMoney(cost.price_for_reseller);
          const repriced = reprice({ item, rules, newCost, newRules, sellingPrice: selling.get(nameOf(item)) });
          return { name, item, newCost, repriced };
        });
      const count = (is: (repriced: Repriced) => boolean) => trials.filter(({ repriced }) => is(repriced)).length;
      return jsonReply(200, {
        data: trials.map(({ name, item, newCost, repriced }) => lineJson(name, item, newCost, repriced)),
        summary: {
          items: trials.length,
          changed: count(({ isChanged }) => isChanged),
          without_suggestion: count(({ after }) => after === undefined),
          below_minimum: count(({ kept }) => kept?.isBelowMinimum === true),
          at_loss: count(({ kept }) => kept?.isAtLoss === true),
        },
        ...ageOf(oldest, now()),
      });
    },
  });
}

function ruleErrors(tried: readonly PricingRule[]): FieldError[] {
  const ties = tiedRules(tried).map((name) => inBody('rules', `has two rules for ${name}`));
  return [...tried.flatMap(({ terms }, index) => termsErrors(terms, `rules.${index}.terms`)), ...ties];
}

/** One of two prices for an item would be ignored silently. */
function doubles(body: z.output<typeof whatIfInput>, field: 'price_list' | 'selling_prices'): FieldError[] {
  const seen = new Set<string>();
  return body[field].flatMap((each, index) => {
    const name = nameOf(each);
    if (seen.has(name)) return [inBody(`${field}.${index}`, `is the second entry for ${name}`)];
    seen.add(name);
    return [];
  });
}

/** An id that the service does not list cannot be priced. */
function unknownIds(body: z.output<typeof whatIfInput>, listed: readonly Listed[]): FieldError[] {
  const known = new Set(listed.map(({ item }) => nameOf(item)));
  const read = new Set(listed.map(({ item }) => item.kind));
  const named: [string, (Pick<PricedItem, 'kind' | 'id'> | undefined)[]][] = [
    ['package_ids', (body.package_ids ?? []).map((each) => ({ kind: 'package', id: each }))],
    ['vpn_plan_ids', (body.vpn_plan_ids ?? []).map((each) => ({ kind: 'vpn_plan', id: each }))],
    ['price_list', body.price_list.map((each) => (read.has(each.kind) ? each : undefined))],
    ['selling_prices', body.selling_prices.map((each) => (read.has(each.kind) ? each : undefined))],
  ];
  return named.flatMap(([field, all]) =>
    all.flatMap((each, index) =>
      each === undefined || known.has(nameOf(each))
        ? []
        : [inBody(`${field}.${index}`, `is not listed by the service: ${nameOf(each)}`)],
    ),
  );
}

function inBody(field: string, message: string): FieldError {
  return { in: 'body', field, message };
}

function nameOf({ kind: of, id: number }: Pick<PricedItem, 'kind' | 'id'>): string {
  return `${of} ${number}`;
}

function lineJson(
  name: string,
  item: PricedItem,
  newCost: Money,
  { before, after, isChanged, kept }: Repriced,
): z.input<typeof whatIfLine> {
  return {
    kind: item.kind,
    id: item.id,
    name,
    old: { price_for_reseller: item.cost, suggested_price: suggestionJson(before) },
    new: { price_for_reseller: newCost, suggested_price: suggestionJson(after) },
    changed: isChanged,
    if_kept:
      kept === undefined
        ? null
        : {
            price: kept.price,
            margin: marginJson(kept.margin, kept.price.currency),
            minimum: kept.least,
            below_minimum: kept.isBelowMinimum,
            at_loss: kept.isAtLoss,
          },
  };
}
