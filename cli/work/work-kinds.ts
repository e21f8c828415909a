/**
 * The kinds of work that an operator looks at and acts upon, each by a command of its own that does the same things.
 */
export interface WorkCommand {
  /** Name of the command. */
  readonly command: string;
  /** Where the API has it. */
  readonly path: string;
  /** One of it, for sentences. */
  readonly noun: string;
  /** The field with the caller's reference, or what else says to a person which one it is. */
  readonly reference: string;
  /** False for what spends nothing: then there is no limit to change. */
  readonly isBought: boolean;
  /** What the verdict `bought` can name, by the field of the API. */
  readonly serviceIds: Readonly<Record<string, string>>;
}

export const ORDERS: WorkCommand = {
  command: 'orders',
  path: '/v1/orders',
  noun: 'order',
  reference: 'external_order_id',
  isBought: true,
  serviceIds: { service_order_id: 'the order at the service', service_esim_id: 'the eSIM at the service' },
};

export const TOPUPS: WorkCommand = {
  command: 'topups',
  path: '/v1/topups',
  noun: 'top-up',
  reference: 'external_topup_id',
  isBought: true,
  serviceIds: { service_topup_id: 'the top-up at the service' },
};

export const VPN_SUBSCRIPTIONS: WorkCommand = {
  command: 'vpn-subscriptions',
  path: '/v1/vpn/subscriptions',
  noun: 'VPN subscription',
  reference: 'external_subscription_id',
  isBought: true,
  serviceIds: { service_subscription_id: 'the subscription at the service' },
};

export const CANCELLATIONS: WorkCommand = {
  command: 'cancellations',
  path: '/v1/cancellations',
  noun: 'cancellation',
  reference: 'esim_id',
  isBought: false,
  serviceIds: { service_refund_id: 'its refund at the service' },
};
