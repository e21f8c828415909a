import type { Executor } from '#db/connection/database.ts';
import { readCancellation } from '#db/work/cancellation-queries.ts';
import { readOrder } from '#db/work/order-queries.ts';
import { readTopup } from '#db/work/topup-queries.ts';
import { readVpnSubscription } from '#db/work/vpn-subscription-queries.ts';
import type { WorkRef } from '#domain/work/work.ts';

/** What is shown of work in the Temporal UI from its start on; nothing personal. */
export interface StartFacts extends WorkRef {
  /** The caller's own reference; our id where there is none. */
  readonly externalReference: string;
  /** Of an eSIM package; a VPN plan is named by the other. */
  readonly packageId?: number;
  readonly vpnPlanId?: number;
}

/** @throws WorkMissingError */
export async function readStartFacts(db: Executor, { kind, id }: WorkRef): Promise<StartFacts> {
  switch (kind) {
    case 'order': {
      const { externalOrderId, packageId } = await readOrder(db, id);
      return { kind, id, packageId, externalReference: externalOrderId };
    }
    case 'topup': {
      const { topup } = await readTopup(db, id);
      return { kind, id, packageId: topup.packageId, externalReference: topup.externalTopupId ?? id };
    }
    case 'cancellation': {
      const { esim } = await readCancellation(db, id);
      const { externalOrderId, packageId } = await readOrder(db, esim.orderId);
      return { kind, id, packageId, externalReference: externalOrderId };
    }
    case 'vpn_subscription': {
      const { vpnPlanId, externalSubscriptionId } = await readVpnSubscription(db, id);
      return { kind, id, vpnPlanId, externalReference: externalSubscriptionId };
    }
  }
}
