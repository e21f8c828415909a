/** How each kind of work is prepared, sent, looked up and completed: one entry for each kind. */
import { cancellationHandler } from '#fulfilment/purchase/cancellation.ts';
import type { WorkHandlers, WorkDependencies } from '#fulfilment/purchase/handler.ts';
import { orderHandler } from '#fulfilment/purchase/order.ts';
import { topupHandler } from '#fulfilment/purchase/topup.ts';
import { vpnSubscriptionHandler } from '#fulfilment/purchase/vpn-subscription.ts';

/** The handlers of all kinds. */
export function workHandlers(dependencies: WorkDependencies): WorkHandlers {
  return {
    order: orderHandler(dependencies),
    topup: topupHandler(dependencies),
    vpn_subscription: vpnSubscriptionHandler(dependencies),
    cancellation: cancellationHandler(dependencies),
  };
}
