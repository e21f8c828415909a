import * as z from 'zod';
import type { ApiDependencies } from '#api/dependencies.ts';
import { ageOf, freshness, freshnessExample } from '#api/fields/freshness.ts';
import { type Operation, operation } from '#api/http/operation.ts';
import { jsonReply } from '#api/http/reply.ts';
import { type AnyPricingRule, pricedPlan, suggestedPriceJson } from '#api/pricing/suggested-price.ts';
import { valueOf } from '#api/problems/service-problem.ts';
import { vpnPlan, vpnPlanExample } from '#api/vpn/vpn-plan-schemas.ts';
import { rulesInForce } from '#db/money/pricing-rules.ts';
import { plainAmount } from '#domain/money/money.ts';
import type { VpnPlan } from '#upstream/contract.ts';

/** VPN plans of the service. */
export function vpnPlanOperations({ database, service, now }: ApiDependencies): Operation[] {
  return [
    operation({
      id: 'listVpnPlans',
      method: 'get',
      path: '/v1/vpn/plans',
      tag: 'VPN',
      summary: 'List VPN plans with their prices and your suggested prices, by id',
      description: 'Read from the service at each call.',
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
        const { items } = valueOf(await service.listVpnPlans());
        const rules = await database.run(rulesInForce);
        const data = items.toSorted((left, right) => left.id - right.id).map((plan) => planJson(plan, rules));
        return jsonReply(200, { data, ...ageOf(now(), now()) });
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
    price_for_reseller: plainAmount(price),
    currency,
    available,
    suggested_price: suggested,
  };
}
