/** What each kind of purchase needs of the interface: to buy, to learn how it went on, to read what it delivers. */
import type { PurchaseKind } from '#domain/gate/first-contact.ts';
import type { EndpointName } from '#upstream/contract/endpoints.ts';
import type { EventKind } from '#upstream/contract/events.ts';

interface PurchaseNeeds {
  readonly calls: readonly EndpointName[];
  readonly events: readonly EventKind[];
}

/** Every purchase logs in, and is settled by what the wallet says. */
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
