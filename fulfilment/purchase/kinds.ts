/** How each kind of work is prepared, sent, looked up and completed: one entry for each kind. */
import { cancellationHandler } from '#fulfilment/cancellations/cancellation.ts';
import { orderHandler } from '#fulfilment/orders/order.ts';
import type { WorkHandlers, WorkDependencies } from '#fulfilment/purchase/handler.ts';
import { topupHandler } from '#fulfilment/topups/topup.ts';
import { vpnSubscriptionHandler } from '#fulfilment/vpn/purchase.ts';

/** The handlers of all kinds. */
export function workHandlers(dependencies: WorkDependencies): WorkHandlers {
  return {
    order: orderHandler(dependencies),
    topup: topupHandler(dependencies),
    vpn_subscription: vpnSubscriptionHandler(dependencies),
    cancellation: cancellationHandler(dependencies),
  };
}
