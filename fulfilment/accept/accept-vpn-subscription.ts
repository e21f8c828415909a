import type { Executor } from '#db/connection/database.ts';
import { vpnSubscriptions } from '#db/schema.ts';
import { findHolderId } from '#db/work/reference-holders.ts';
import type { VpnSubscriptionRow } from '#db/work/rows.ts';
import {
  acceptWork,
  newReferenceColumns,
  newWorkColumns,
  replaced,
  type Acceptance,
  type NewWork,
} from '#fulfilment/accept/accept-work.ts';

export interface NewVpnSubscription extends NewWork {
  readonly externalSubscriptionId: string;
  readonly vpnPlanId: number;
  /** Encrypted for {@link customerReferenceAad}. */
  readonly encryptedCustomerReference: Buffer;
  /** Keyed hash of the same, for searches. */
  readonly customerReferenceHash: Buffer;
  /** Exact decimal, in the currency of the plan. */
  readonly customerPrice: string;
}

/** Accepts a subscription, in the caller's transaction. */
export async function acceptVpnSubscription(
  tx: Executor,
  subscription: NewVpnSubscription,
  now: Date,
): Promise<Acceptance<VpnSubscriptionRow>> {
  const { id, externalSubscriptionId, vpnPlanId, encryptedCustomerReference, customerReferenceHash, customerPrice } =
    subscription;
  const own = { externalSubscriptionId, vpnPlanId, encryptedCustomerReference, customerReferenceHash, customerPrice };
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
