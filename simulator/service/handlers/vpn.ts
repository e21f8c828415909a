import type { Environment } from '#simulator/environment.ts';
import type { Handlers } from '#simulator/service/call.ts';
import { jsonAnswer, notFound, parsed } from '#simulator/service/errors.ts';
import { oneMore, pageAnswer, pageFrom, wholeList } from '#simulator/service/query.ts';
import { vpnOrderBody } from '#simulator/service/request-bodies.ts';
import type { Simulation } from '#simulator/simulation.ts';
import type { SaleRecord } from '#simulator/store/sales.ts';
import { wireVpnPlan } from '#simulator/wire.ts';

type VpnEndpoint =
  | 'listVpnPlans'
  | 'createVpnOrder'
  | 'getVpnSubscription'
  | 'listVpnSubscriptions'
  | 'cancelVpnSubscription';

/** Handlers about VPN plans and subscriptions. */
export const VPN_HANDLERS: Handlers<VpnEndpoint> = {
  listVpnPlans: ({ plans }) => wholeList(plans.list(), wireVpnPlan),

  createVpnOrder: async ({ purchases }, call) => purchases.orderVpn(call, parsed(vpnOrderBody, call.json)),

  getVpnSubscription: (simulation, { environment, id }) => {
    return jsonAnswer(200, simulation.kinds.vpn.answer(requireSubscription(simulation, environment, id)));
  },

  listVpnSubscriptions: ({ sales, kinds }, { environment, query }) => {
    const page = pageFrom(query);
    const filter = { kind: 'vpn', environment, reference: query['external_subscription_id'] } as const;
    return pageAnswer(sales.newestFirst(filter, oneMore(page)), page, (sale) => kinds.vpn.answer(sale));
  },

  cancelVpnSubscription: (simulation, { environment, id }) => {
    const sale = requireSubscription(simulation, environment, id);
    simulation.vpnSubscriptions.cancel(sale);
    return jsonAnswer(200, simulation.kinds.vpn.answer(sale));
  },
};

function requireSubscription({ sales }: Simulation, environment: Environment, id: string): SaleRecord {
  const sale = sales.get('vpn', id, environment);
  if (sale === undefined) throw notFound('VPN subscription');
  return sale;
}
