import type { WebhookTryRow } from '#db/events/webhook-deliveries.ts';

export function deviceImeiAad(orderId: string): string {
  return `orders.encrypted_device_imei/${orderId}`;
}

export function activationCodeAad(esimId: string): string {
  return `esims.encrypted_activation_code/${esimId}`;
}

const CUSTOMERS_OF = { order: 'orders', topup: 'topups', vpn_subscription: 'vpn_subscriptions' } as const;

export type CustomerWork = keyof typeof CUSTOMERS_OF;

/** The reference of an eSIM is bound to its order: the delivery copies it without decrypting it. */
export function customerReferenceAad(kind: CustomerWork, id: string): string {
  return `${CUSTOMERS_OF[kind]}.encrypted_customer_reference/${id}`;
}

export function accessAad(id: string): string {
  return `vpn_subscriptions.encrypted_access/${id}`;
}

export function requestBodyAad(attemptId: string): string {
  return `attempts.encrypted_request_body/${attemptId}`;
}

export function inboxBodyAad(deliveryId: string): string {
  return `inbox.encrypted_body/${deliveryId}`;
}

export function excerptAad({ deliveryId, number }: Pick<WebhookTryRow, 'deliveryId' | 'number'>): string {
  return `webhook_tries.encrypted_excerpt/${deliveryId}/${number}`;
}
