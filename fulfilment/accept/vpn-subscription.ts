import type { Executor } from '#db/connection/database.ts';
import { vpnSubscriptions } from '#db/schema.ts';
import { findHolderId } from '#db/work/reference-holders.ts';
import type { VpnSubscriptionRow } from '#db/work/rows.ts';
import type { Money } from '#domain/money/money.ts';
import {
  acceptWork,
  newReferenceColumns,
  newWorkColumns,
  replaced,
  type Acceptance,
  type NewCustomer,
  type NewWork,
} from '#fulfilment/accept/work.ts';

interface NewVpnSubscription extends NewWork, NewCustomer {
  readonly externalSubscriptionId: string;
  readonly vpnPlanId: number;
  readonly customerPrice: Money;
}

export async function acceptVpnSubscription(
  tx: Executor,
  subscription: NewVpnSubscription,
  now: Date,
): Promise<Acceptance<VpnSubscriptionRow>> {
  const { id, externalSubscriptionId, vpnPlanId, encryptedCustomerReference, customerReferenceHash } = subscription;
  const own = {
    externalSubscriptionId,
    vpnPlanId,
    encryptedCustomerReference,
    customerReferenceHash,
    customerPrice: subscription.customerPrice.amount,
    customerPriceCurrency: subscription.customerPrice.currency,
  };
  return acceptWork(
    tx,
    { kind: 'vpn_subscription', id },
    {
      insert: () =>
        tx
          .insert(vpnSubscriptions)
          .values({ ...newWorkColumns(subscription, now), ...newReferenceColumns(subscription), ...own })
          .onConflictDoNothing()
          .returning(),
      holder: () => findHolderId(tx, 'vpn_subscription', externalSubscriptionId),
      detail: { vpn_plan_id: vpnPlanId, ...replaced(subscription) },
    },
    now,
  );
}
