import type * as z from 'zod';
import type { StoredCatalogue } from '#api/catalogue/stored-catalogue.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import { ageOf } from '#api/fields/freshness.ts';
import { type Operation, invalid, operation, jsonAnswer } from '#api/http/operation.ts';
import { jsonReply } from '#api/http/reply.ts';
import { ruleFrom, termsErrors, termsExample } from '#api/pricing/pricing-rule-schemas.ts';
import {
  type AnyPricingRule,
  marginJson,
  pricedPackage,
  pricedPlan,
  suggestionJson,
} from '#api/pricing/suggested-price.ts';
import { whatIfInput, type whatIfLine, whatIfOutput } from '#api/pricing/what-if-schemas.ts';
import type { FieldError } from '#api/problems/problem.ts';
import { STORED_ITEMS } from '#db/catalogue/stored-items.ts';
import { rulesInForce } from '#db/money/pricing-rules.ts';
import { paddedMoney, type Money } from '#domain/money/money.ts';
import { tiedRules, type PricedItem } from '#domain/pricing/pricing-rule.ts';
import { reprice, withRules, type Repriced } from '#domain/pricing/repricing.ts';

/** A package or plan of the service. */
interface Listed {
  readonly name: string;
  readonly item: PricedItem;
}

/** Prices a list by other rules or at other costs, and stores nothing. */
export function whatIfOperation({ database, now }: ApiDependencies, catalogue: StoredCatalogue): Operation {
  return operation({
    id: 'tryPricing',
    method: 'post',
    path: '/v1/pricing/what-if',
    tag: 'Pricing',
    summary: 'Try other rules or another price list',
    description:
      'Shows the old and the new suggestion of each package and plan with their margins, and which would fall ' +
      'below the minimum if its ' +
      'selling price did not change. Nothing is stored or changed, so no Idempotency-Key is needed.',
    scope: 'pricing:read',
    accountWide: true,
    heavy: 'many',
    body: whatIfInput,
    bodyExample: {
      package_ids: [1001],
      rules: [{ target: { kind: 'default' }, currency: 'USD', terms: termsExample }],
    },
    answers: {
      200: jsonAnswer('The trial.', whatIfOutput),
    },
    problems: ['service_failed', 'service_unavailable', 'service_timeout'],
    handle: async ({ body }) => {
      const tried: AnyPricingRule[] = body.rules.map(ruleFrom);
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
      const rules: readonly AnyPricingRule[] = await database.run(rulesInForce);
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
      const count = (is: (repriced: Repriced<AnyPricingRule>) => boolean) =>
        trials.filter(({ repriced }) => is(repriced)).length;
      return jsonReply(200, {
        data: trials.map(lineJson),
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

function ruleErrors(tried: readonly AnyPricingRule[]): FieldError[] {
  const ties = tiedRules(tried).map((name) => ({
    in: 'body' as const,
    field: 'rules',
    message: `has two rules for ${name}`,
  }));
  return [...tried.flatMap(({ terms }, index) => termsErrors(terms, `rules.${index}.terms`)), ...ties];
}

/** Refuses two prices for one item: one of them would be ignored silently. */
function doubles(body: z.output<typeof whatIfInput>, field: 'price_list' | 'selling_prices'): FieldError[] {
  const seen = new Set<string>();
  return body[field].flatMap((each, index) => {
    const name = nameOf(each);
    if (seen.has(name))
      return [{ in: 'body' as const, field: `${field}.${index}`, message: `is the second entry for ${name}` }];
    seen.add(name);
    return [];
  });
}

/** Refuses ids that the service does not list: they cannot be priced. */
function unknownIds(body: z.output<typeof whatIfInput>, listed: readonly Listed[]): FieldError[] {
  const known = new Set(listed.map(({ item }) => nameOf(item)));
  const read = new Set(listed.map(({ item }) => item.kind));
  const named: [string, Named[]][] = [
    ['package_ids', (body.package_ids ?? []).map((each) => ({ kind: 'package', id: each }))],
    ['vpn_plan_ids', (body.vpn_plan_ids ?? []).map((each) => ({ kind: 'vpn_plan', id: each }))],
    ['price_list', body.price_list.filter((each) => read.has(each.kind))],
    ['selling_prices', body.selling_prices.filter((each) => read.has(each.kind))],
  ];
  return named.flatMap(([field, all]) =>
    all.flatMap((each, index) =>
      known.has(nameOf(each))
        ? []
        : [
            {
              in: 'body' as const,
              field: `${field}.${index}`,
              message: `is not listed by the service: ${nameOf(each)}`,
            },
          ],
    ),
  );
}

interface Named {
  readonly kind: PricedItem['kind'];
  readonly id: number;
}

function nameOf({ kind: of, id: number }: Named): string {
  return `${of} ${number}`;
}

function lineJson({
  name,
  item,
  newCost,
  repriced,
}: {
  name: string;
  item: PricedItem;
  newCost: Money;
  repriced: Repriced<AnyPricingRule>;
}): z.input<typeof whatIfLine> {
  const { before, after, isChanged, kept } = repriced;
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
