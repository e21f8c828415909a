/** The additional authenticated data of each encrypted column: table, column and row. */
import type { WebhookTryRow } from '#db/events/webhook-deliveries.ts';

/** The additional authenticated data of the IMEI of an order. */
export function deviceImeiAad(orderId: string): string {
  return `orders.encrypted_device_imei/${orderId}`;
}

/** The additional authenticated data of the activation code of an eSIM. */
export function activationCodeAad(esimId: string): string {
  return `esims.encrypted_activation_code/${esimId}`;
}

/** The tables of the work that has a reference of the end customer. */
const CUSTOMERS_OF = { order: 'orders', topup: 'topups', vpn_subscription: 'vpn_subscriptions' } as const;

/** The kinds of work that have a reference of the end customer. */
export type CustomerWork = keyof typeof CUSTOMERS_OF;

/**
 * The additional authenticated data of the customer reference of work. That of an eSIM is bound to its order: the
 * delivery copies it without decrypting it.
 */
export function customerReferenceAad(kind: CustomerWork, id: string): string {
  return `${CUSTOMERS_OF[kind]}.encrypted_customer_reference/${id}`;
}

/** The additional authenticated data of the access data of a subscription. */
export function accessAad(id: string): string {
  return `vpn_subscriptions.encrypted_access/${id}`;
}

/** The additional authenticated data of the request body of an attempt. */
export function requestBodyAad(attemptId: string): string {
  return `attempts.encrypted_request_body/${attemptId}`;
}

/** The additional authenticated data of the body of a delivery. */
export function inboxBodyAad(deliveryId: string): string {
  return `inbox.encrypted_body/${deliveryId}`;
}

/** The additional authenticated data of the excerpt of an answer. */
export function excerptAad({ deliveryId, number }: Pick<WebhookTryRow, 'deliveryId' | 'number'>): string {
  return `webhook_tries.encrypted_excerpt/${deliveryId}/${number}`;
}
