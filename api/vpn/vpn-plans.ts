import * as z from 'zod';
import type { ApiDependencies } from '#api/dependencies.ts';
import { ageOf, freshness, freshnessExample } from '#api/fields/freshness.ts';
import { type Operation, operation } from '#api/http/operation.ts';
import { jsonReply } from '#api/http/reply.ts';
import type { PlanList } from '#api/offers/plan-list.ts';
import { type AnyPricingRule, pricedPlan, suggestedPriceJson } from '#api/pricing/suggested-price.ts';
import { Problem } from '#api/problems/problem.ts';
import { vpnPlan, vpnPlanExample } from '#api/vpn/vpn-plan-schemas.ts';
import { rulesInForce } from '#db/money/pricing-rules.ts';
import { plainAmount } from '#domain/money/money.ts';
import type { VpnPlan } from '#upstream/contract.ts';

/** VPN plans of the service. */
export function vpnPlanOperations({ database, now }: ApiDependencies, plans: PlanList): Operation[] {
  return [
    operation({
      id: 'listVpnPlans',
      method: 'get',
      path: '/v1/vpn/plans',
      tag: 'VPN',
      summary: 'List VPN plans with their prices and your suggested prices, by id',
      description: 'Read from the service, and kept for half a minute.',
      scope: 'vpn:read',
      answers: {
        200: {
          description: 'All plans.',
          contentType: 'application/json',
          schema: z.strictObject({ data: z.array(vpnPlan), ...freshness }).meta({ id: 'VpnPlans' }),
          example: { data: [vpnPlanExample], ...freshnessExample },
        },
      },
      problems: ['service_failed', 'service_unavailable', 'service_timeout'],
      handle: async () => {
        const { value, readAt } = await plans.get();
        const rules = await database.run(rulesInForce);
        const data = value.items.map((plan) => planJson(plan, rules));
        return jsonReply(200, { data, ...ageOf(readAt, now()) });
      },
    }),
    operation({
      id: 'getVpnPlan',
      method: 'get',
      path: '/v1/vpn/plans/{id}',
      tag: 'VPN',
      summary: 'Read a VPN plan with its price and your suggested price',
      scope: 'vpn:read',
      params: z.strictObject({ id: z.string().meta({ description: 'Id of the VPN plan.', example: '301' }) }),
      answers: {
        200: {
          description: 'The plan.',
          contentType: 'application/json',
          schema: z.strictObject({ ...vpnPlan.shape, ...freshness }).meta({ id: 'VpnPlanWithAge' }),
          example: { ...vpnPlanExample, ...freshnessExample },
        },
      },
      problems: ['vpn_plan_not_found', 'service_failed', 'service_unavailable', 'service_timeout'],
      handle: async ({ params: { id } }) => {
        const { value, readAt } = await plans.get();
        const found = value.items.find((each) => String(each.id) === id);
        if (found === undefined) throw new Problem('vpn_plan_not_found');
        const rules = await database.run(rulesInForce);
        return jsonReply(200, { ...planJson(found, rules), ...ageOf(readAt, now()) });
      },
    }),
  ];
}

function planJson(plan: VpnPlan, rules: readonly AnyPricingRule[]): z.input<typeof vpnPlan> {
  const { id, name, duration_days: days, price_for_reseller: price, currency, available } = plan;
  const suggested = suggestedPriceJson(pricedPlan(plan), rules);
  return {
    id,
    name,
    duration_days: days ?? null,
    price_for_reseller: { amount: plainAmount(price), currency },
    available,
    suggested_price: suggested,
  };
}
