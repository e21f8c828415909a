/** The names are the workflow types (`messages.ts`). */
export { orderWorkflow } from '#workflows/order.ts';
export { topupWorkflow } from '#workflows/topup.ts';
export { vpnSubscriptionWorkflow } from '#workflows/vpn-subscription.ts';
export { cancellationWorkflow } from '#workflows/cancellation.ts';
export {
  booksWorkflow,
  catalogueWorkflow,
  reconcileWorkflow,
  sweepWorkflow,
  watchWorkflow,
} from '#workflows/maintenance.ts';
export { webhookEndpointWorkflow } from '#workflows/webhook-endpoint.ts';
