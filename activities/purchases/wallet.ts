import type { WalletTransaction } from '#upstream/contract.ts';

/** Clocks of the two sides may differ by this much; what is looked for may carry a time so long before our first send. */
export const CLOCK_SKEW_MS = 10 * 60_000;

/** True when a movement says of nothing what it is for: it may be anybody's. */
export function namesNothing(transaction: WalletTransaction): boolean {
  const { order_id: order, topup_id: topup, vpn_subscription_id: subscription } = transaction;
  const { external_order_id: orderReference, external_subscription_id: subscriptionReference } = transaction;
  return [order, topup, subscription, orderReference, subscriptionReference].every((name) => name == null);
}
