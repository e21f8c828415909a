/** The calls and events that each kind of purchase needs: to buy, to find out the result, to read the delivery. */
import type { PurchaseKind } from '#domain/work/kinds.ts';
import type { EndpointName } from '#upstream/contract/endpoints.ts';
import type { EventKind } from '#upstream/contract/events.ts';

interface PurchaseNeeds {
  readonly calls: readonly EndpointName[];
  readonly events: readonly EventKind[];
}

/** Every purchase needs a login, and wallet evidence to settle it. */
const OF_ALL = ['login', 'getWallet', 'listWalletTransactions'] as const satisfies readonly EndpointName[];

export const PURCHASE_NEEDS: Readonly<Record<PurchaseKind, PurchaseNeeds>> = {
  order: {
    calls: [...OF_ALL, 'listPackages', 'createOrder', 'getOrder', 'listOrders', 'getEsim'],
    events: ['order.completed', 'order.processing', 'order.failed'],
  },
  topup: {
    calls: [...OF_ALL, 'listTopupOptions', 'createTopup', 'getTopup', 'listTopups'],
    events: ['topup.completed', 'topup.processing', 'topup.failed'],
  },
  vpn_subscription: {
    calls: [...OF_ALL, 'listVpnPlans', 'createVpnOrder', 'getVpnSubscription', 'listVpnSubscriptions'],
    events: [
      'vpn.subscription.active',
      'vpn.subscription.cancelled',
      'vpn.subscription.expired',
      'vpn.subscription.failed',
    ],
  },
};
