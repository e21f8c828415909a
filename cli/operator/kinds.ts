import { eachKind, KINDS, type WorkKind } from '#domain/work/kinds.ts';

interface CommandOfKind {
  /** The verdict `bought` takes these ids. */
  readonly serviceIds: Readonly<Record<string, string>>;
}

const COMMANDS: Readonly<Record<WorkKind, CommandOfKind>> = {
  order: {
    serviceIds: { service_order_id: 'the order at the service', service_esim_id: 'the eSIM at the service' },
  },
  topup: {
    serviceIds: { service_topup_id: 'the top-up at the service' },
  },
  vpn_subscription: {
    serviceIds: { service_subscription_id: 'the subscription at the service' },
  },
  cancellation: {
    serviceIds: { service_refund_id: 'its refund at the service' },
  },
};

export type WorkResource = CommandOfKind & {
  readonly command: string;
  readonly path: string;
  readonly noun: string;
  /** Such work has a price limit and passes the purchase gate. */
  readonly isPurchase: boolean;
};

export const WORK_RESOURCES: Readonly<Record<WorkKind, WorkResource>> = eachKind((kind) => {
  const { command, path, noun, isPurchase } = KINDS[kind];
  return { ...COMMANDS[kind], command, path, noun, isPurchase };
});
