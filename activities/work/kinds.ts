/** How each kind of work is prepared, sent, looked up and completed: one entry for each kind. */
import { cancellationHandler } from '#activities/purchases/cancellation.ts';
import { orderHandler } from '#activities/purchases/order.ts';
import { topupHandler } from '#activities/purchases/topup.ts';
import { vpnSubscriptionHandler } from '#activities/purchases/vpn-subscription.ts';
import type { WorkHandlers } from '#activities/purchases/work-handler.ts';
import type { WorkDependencies } from '#activities/work/work-dependencies.ts';

/** The handlers of all kinds. */
export function workHandlers(dependencies: WorkDependencies): WorkHandlers {
  return {
    order: orderHandler(dependencies),
    topup: topupHandler(dependencies),
    vpn_subscription: vpnSubscriptionHandler(dependencies),
    cancellation: cancellationHandler(dependencies),
  };
}
