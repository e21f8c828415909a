import { KINDS, type WorkKind } from '#domain/work/kinds.ts';

export interface WorkResource {
  readonly command: string;
  readonly path: string;
  readonly noun: string;
  /** Such work has a price limit and passes the purchase gate. */
  readonly isPurchase: boolean;
  /** The verdict `bought` takes these ids. */
  readonly serviceIds: Readonly<Record<string, string>>;
}

export const WORK_RESOURCES: Readonly<Record<WorkKind, WorkResource>> = {
  order: {
    ...KINDS.order,
    serviceIds: { service_order_id: 'the order at the service', service_esim_id: 'the eSIM at the service' },
  },
  topup: { ...KINDS.topup, serviceIds: { service_topup_id: 'the top-up at the service' } },
  vpn_subscription: {
    ...KINDS.vpn_subscription,
    serviceIds: { service_subscription_id: 'the subscription at the service' },
  },
  cancellation: { ...KINDS.cancellation, serviceIds: { service_refund_id: 'its refund at the service' } },
};
