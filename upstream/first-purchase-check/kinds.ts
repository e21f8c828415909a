/** What the check before the first purchase reads for each kind of purchase: one entry for each kind. */
import type { PurchaseKind } from '#domain/work/kinds.ts';
import type { EndpointName, EventKind } from '#upstream/contract.ts';
import type { DebitNaming } from '#upstream/first-purchase-check/debits.ts';
import type { PriceList } from '#upstream/first-purchase-check/free-reads.ts';
import {
  checkListedOrder,
  checkListedSubscription,
  checkListedTopup,
  type ListedPurchaseCheck,
} from '#upstream/first-purchase-check/listed-purchases.ts';
import { isOfOrder } from '#upstream/mapping/wallet-movements.ts';

interface PurchaseCheck {
  /** The calls that it needs: to buy, to find out the result, to read the delivery. */
  readonly calls: readonly EndpointName[];
  /** The events that it needs. */
  readonly events: readonly EventKind[];
  /** The list that has its prices. The options of a top-up have the shape of packages. */
  readonly priceList: PriceList;
  readonly debits: DebitNaming;
  readonly listed: ListedPurchaseCheck;
}

/** Every purchase logs in, and is settled by the wallet. */
const OF_ALL = ['login', 'getWallet', 'listWalletTransactions'] as const satisfies readonly EndpointName[];

export const PURCHASE_CHECKS: Readonly<Record<PurchaseKind, PurchaseCheck>> = {
  order: {
    calls: [...OF_ALL, 'listPackages', 'createOrder', 'getOrder', 'listOrders', 'getEsim'],
    events: ['order.completed', 'order.processing', 'order.failed'],
    priceList: 'listPackages',
    debits: {
      fields: ['order_id', 'external_order_id'],
      isOf: ({ id, reference = null }, debit) => isOfOrder({ serviceId: id, reference }, debit),
    },
    listed: checkListedOrder,
  },
  topup: {
    calls: [...OF_ALL, 'listTopupOptions', 'createTopup', 'getTopup', 'listTopups'],
    events: ['topup.completed', 'topup.processing', 'topup.failed'],
    priceList: 'listPackages',
    debits: { fields: ['topup_id'], isOf: ({ id }, { topup_id: named }) => named === id },
    listed: checkListedTopup,
  },
  vpn_subscription: {
    calls: [...OF_ALL, 'listVpnPlans', 'createVpnOrder', 'getVpnSubscription', 'listVpnSubscriptions'],
    events: [
      'vpn.subscription.active',
      'vpn.subscription.cancelled',
      'vpn.subscription.expired',
      'vpn.subscription.failed',
    ],
    priceList: 'listVpnPlans',
    debits: {
      fields: ['vpn_subscription_id', 'external_subscription_id'],
      isOf: ({ id, reference }, debit) => {
        const { vpn_subscription_id: named, external_subscription_id: namedReference } = debit;
        return named === id || (namedReference != null && namedReference === reference);
      },
    },
    listed: checkListedSubscription,
  },
};
