/** What a movement of the service's wallet is for. */
import type { WalletTransaction } from '#upstream/contract.ts';

/** Clocks of the two sides may differ by this much; what is looked for may carry a time so long before our first send. */
export const CLOCK_SKEW_MS = 10 * 60_000;

/** How the service and we name a purchase; null where one of us has no name for it. */
interface Named {
  readonly serviceId: string | null;
  readonly reference: string | null;
}

/** True when a movement is for this order. */
export function isOfOrder({ serviceId, reference }: Named, { order_id: id, external_order_id: named }: WalletTransaction): boolean {
  return (id != null && id === serviceId) || (named != null && named === reference);
}

/** True when a movement says of nothing what it is for: it may be anybody's. */
export function namesNothing(transaction: WalletTransaction): boolean {
  const { order_id: order, topup_id: topup, vpn_subscription_id: subscription } = transaction;
  const { external_order_id: orderReference, external_subscription_id: subscriptionReference } = transaction;
  return [order, topup, subscription, orderReference, subscriptionReference].every((name) => name == null);
}
