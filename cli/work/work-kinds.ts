/** A kind of work in the API and in the command line. */
export interface WorkResource {
  /** Name of the command. */
  readonly command: string;
  /** Path in the API. */
  readonly path: string;
  /** Singular noun for messages. */
  readonly noun: string;
  /** Field of the API that identifies the work for a person, such as the caller's reference. */
  readonly reference: string;
  /** False for cancellations: they spend nothing, so they have no price limit. */
  readonly isBought: boolean;
  /** Options for the ids at the service that the verdict `bought` takes, by field of the API. */
  readonly serviceIds: Readonly<Record<string, string>>;
}

export const ORDERS: WorkResource = {
  command: 'orders',
  path: '/v1/orders',
  noun: 'order',
  reference: 'external_order_id',
  isBought: true,
  serviceIds: { service_order_id: 'the order at the service', service_esim_id: 'the eSIM at the service' },
};

export const TOPUPS: WorkResource = {
  command: 'topups',
  path: '/v1/topups',
  noun: 'top-up',
  reference: 'external_topup_id',
  isBought: true,
  serviceIds: { service_topup_id: 'the top-up at the service' },
};

export const VPN_SUBSCRIPTIONS: WorkResource = {
  command: 'vpn-subscriptions',
  path: '/v1/vpn/subscriptions',
  noun: 'VPN subscription',
  reference: 'external_subscription_id',
  isBought: true,
  serviceIds: { service_subscription_id: 'the subscription at the service' },
};

export const CANCELLATIONS: WorkResource = {
  command: 'cancellations',
  path: '/v1/cancellations',
  noun: 'cancellation',
  reference: 'esim_id',
  isBought: false,
  serviceIds: { service_refund_id: 'its refund at the service' },
};
