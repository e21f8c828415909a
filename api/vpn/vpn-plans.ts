import * as z from 'zod';
import {
  itemFilter,
  itemIdOf,
  itemOrder,
  itemSearch,
  itemTimes,
  itemTimesJson,
} from '#api/catalogue/catalogue-items.ts';
import type { StoredCatalogue } from '#api/catalogue/stored-catalogue.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import { ageOf, freshness, packageId, priceForReseller } from '#api/fields/fields.ts';
import { jsonAnswer, type Operation, operation } from '#api/http/operation.ts';
import { jsonReply } from '#api/http/reply.ts';
import { sortedCursor } from '#api/lists/cursor.ts';
import { pageQuery, pageReply, pageShape } from '#api/lists/lists.ts';
import { pricedPlan, suggestedPriceField, suggestedPriceJson } from '#api/pricing/suggested-price.ts';
import { requireFound } from '#api/problems/problem.ts';
import { findPlan, pageOfPlans, SORTING_KEYS } from '#db/catalogue/catalogue-pages.ts';
import type { VpnPlanRow } from '#db/catalogue/catalogue.ts';
import { plainAmount } from '#domain/money/money.ts';
import type { PricingRule } from '#domain/pricing/pricing-rule.ts';
import { rulesInForce } from '#fulfilment/pricing/pricing-rules.ts';

export const vpnPlanId = packageId.meta({ description: 'Id of a VPN plan at the service.', example: 301 });

const vpnPlan = z
  .strictObject({
    id: vpnPlanId,
    name: z.string().meta({ example: 'VPN, one month' }),
    duration_days: z.int().nullable().meta({ description: 'Length of one period.', example: 30 }),
    price_for_reseller: priceForReseller('3.20'),
    available: z.boolean().meta({ description: 'False while the service does not sell it.', example: true }),
    suggested_price: suggestedPriceField.meta({ example: null }),
    ...itemTimes,
  })
  .meta({ id: 'VpnPlan' });

const SORTS = ['id', 'price', '-price', 'days', '-days'] as const;

const planSearch = {
  ...itemSearch('plans', 'month'),
  sort: z.enum(SORTS).default('id').meta({
    description:
      'The order; `-` reverses it. Prices are ordered by currency first. Plans without a known value are last.',
  }),
};

const planPage = z.strictObject({ ...pageShape(vpnPlan), ...freshness }).meta({ id: 'VpnPlanPage' });

export function vpnPlanOperations({ database, now }: ApiDependencies, catalogue: StoredCatalogue): Operation[] {
  return [
    operation('GET /v1/vpn/plans', {
      id: 'listVpnPlans',
      summary: 'List VPN plans with their prices and your suggested prices',
      description:
        'As last read from the service, every five minutes by default; also while the service cannot be reached. ' +
        '`read_at` and `age_seconds` tell how old they are. The filters are combined.',
      scope: 'vpn:read',
      query: z.strictObject({ ...planSearch, ...pageQuery }),
      answers: { 200: jsonAnswer('A page of plans.', planPage) },
      problems: ['service_failed', 'service_unavailable', 'service_timeout'],
      handle: async ({ query }) => {
        const order = itemOrder(query.sort);
        const readAt = await catalogue.readAt('vpn_plans');
        const rules = await database.run(rulesInForce);
        return pageReply(
          query,
          sortedCursor('l', query.sort, SORTING_KEYS[order.field]),
          (at) => database.run((db) => pageOfPlans(db, itemFilter(query), order, at)),
          ({ row }) => planJson(row, rules),
          ageOf(readAt, now()),
        );
      },
    }),
    operation('GET /v1/vpn/plans/{id}', {
      id: 'getVpnPlan',
      summary: 'Read a VPN plan with its price and your suggested price',
      description: 'As last read from the service. A plan that the service no longer lists has `removed_at`.',
      scope: 'vpn:read',
      params: z.strictObject({ id: z.string().meta({ description: 'Id of the VPN plan.', example: '301' }) }),
      answers: {
        200: jsonAnswer('The plan.', z.strictObject({ ...vpnPlan.shape, ...freshness }).meta({ id: 'VpnPlanWithAge' })),
      },
      problems: ['vpn_plan_not_found', 'service_failed', 'service_unavailable', 'service_timeout'],
      handle: async ({ params }) => {
        const readAt = await catalogue.readAt('vpn_plans');
        const id = itemIdOf(params.id);
        const stored = id === undefined ? undefined : await database.run((db) => findPlan(db, id));
        const found = requireFound(stored, 'vpn_plan_not_found');
        const rules = await database.run(rulesInForce);
        return jsonReply(200, { ...planJson(found, rules), ...ageOf(readAt, now()) });
      },
    }),
  ];
}

function planJson(row: VpnPlanRow, rules: readonly PricingRule[]): z.input<typeof vpnPlan> {
  const { id, name, days, priceAmount, priceCurrency: currency, available } = row;
  return {
    id,
    name,
    duration_days: days,
    price_for_reseller: { amount: plainAmount(priceAmount), currency },
    available,
    suggested_price: suggestedPriceJson(pricedPlan({ id, price: { amount: priceAmount, currency } }), rules),
    ...itemTimesJson(row),
  };
}
