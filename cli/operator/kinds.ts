import { eachKind, KINDS, type WorkKind } from '#domain/work/kinds.ts';

/** A kind of work in the API and in the command line. */
interface CommandOfKind {
  /** Options for the ids at the service that the verdict `bought` takes, by field of the API. */
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

/** A kind of work with its command, its noun and its path in the API. */
export type WorkResource = CommandOfKind & {
  /** Name of the command. */
  readonly command: string;
  readonly path: string;
  readonly noun: string;
  /** True when it has a price limit and passes the purchase gate. */
  readonly isPurchase: boolean;
};

/** The resources of all kinds of work. */
export const WORK_RESOURCES: Readonly<Record<WorkKind, WorkResource>> = eachKind((kind) => {
  const { command, path, noun, isPurchase } = KINDS[kind];
  return { ...COMMANDS[kind], command, path, noun, isPurchase };
});
