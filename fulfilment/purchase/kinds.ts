import { cancellationHandler } from '#fulfilment/purchase/cancellation.ts';
import type { WorkHandlers, WorkDependencies } from '#fulfilment/purchase/handler.ts';
import { orderHandler } from '#fulfilment/purchase/order.ts';
import { topupHandler } from '#fulfilment/purchase/topup.ts';
import { vpnSubscriptionHandler } from '#fulfilment/purchase/vpn-subscription.ts';

export function workHandlers(dependencies: WorkDependencies): WorkHandlers {
  return {
    order: orderHandler(dependencies),
    topup: topupHandler(dependencies),
    vpn_subscription: vpnSubscriptionHandler(dependencies),
    cancellation: cancellationHandler(dependencies),
  };
}
