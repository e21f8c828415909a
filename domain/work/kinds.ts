import type { Trait } from '#domain/service/capability-profile.ts';

interface KindOfWork {
  readonly noun: string;
  /** Of the command line. */
  readonly command: string;
  readonly path: string;
  /** As in `orders:read`. */
  readonly scope: string;
  readonly summary: string;
  /** It spends money: wallet movements are looked for before a further attempt. */
  readonly isPurchase: boolean;
  /** `existing`: only one piece of such work may be under way for an eSIM. */
  readonly esim: 'none' | 'existing' | 'delivered';
  /** `esim`: the service has no id of its own for it. */
  readonly reportsName: 'id' | 'id_or_esim' | 'esim';
  readonly callerReference?: `external_${string}_id`;
  readonly productNoun: 'package' | 'plan';
  /** The trait that says that purchases of the kind were seen through. */
  readonly seenTrait?: Trait;
}

export const KINDS = {
  order: {
    noun: 'order',
    command: 'orders',
    path: '/v1/orders',
    scope: 'orders',
    summary: 'Buys one eSIM package from the service and delivers the eSIM.',
    isPurchase: true,
    esim: 'delivered',
    reportsName: 'id',
    callerReference: 'external_order_id',
    productNoun: 'package',
    seenTrait: 'order_seen',
  },
  topup: {
    noun: 'top-up',
    command: 'topups',
    path: '/v1/topups',
    scope: 'topups',
    summary: 'Recharges one eSIM with a data package.',
    isPurchase: true,
    esim: 'existing',
    reportsName: 'id_or_esim',
    callerReference: 'external_topup_id',
    productNoun: 'package',
    seenTrait: 'topup_seen',
  },
  vpn_subscription: {
    noun: 'VPN subscription',
    command: 'vpn',
    path: '/v1/vpn/subscriptions',
    scope: 'vpn',
    summary: 'Buys a VPN subscription and follows it until it is cancelled or expires.',
    isPurchase: true,
    esim: 'none',
    reportsName: 'id',
    callerReference: 'external_subscription_id',
    productNoun: 'plan',
    seenTrait: 'vpn_seen',
  },
  cancellation: {
    noun: 'cancellation',
    command: 'cancellations',
    path: '/v1/cancellations',
    scope: 'cancellations',
    summary: 'Cancels one eSIM and follows its refund until the money is back in the wallet.',
    isPurchase: false,
    esim: 'existing',
    reportsName: 'esim',
    productNoun: 'package',
  },
} as const satisfies Record<string, KindOfWork>;

export type WorkKind = keyof typeof KINDS;

export const WORK_KINDS = Object.keys(KINDS) as [WorkKind, ...WorkKind[]];

export type PurchaseKind = Exclude<WorkKind, 'cancellation'>;

export const PURCHASE_KINDS = WORK_KINDS.filter((kind): kind is PurchaseKind => KINDS[kind].isPurchase);

export interface WorkRef {
  readonly kind: WorkKind;
  readonly id: string;
}

/** What a workflow is started with. No personal data: parts of it are indexed and shown as plain text. */
export interface WorkStart extends WorkRef {
  readonly externalReference: string;
  readonly packageId?: number;
  readonly vpnPlanId?: number;
  /** Undefined: not traced. */
  readonly traceparent?: string;
  /** Present epoch of the database, for a purchase that no run has read yet. */
  readonly unreadIn?: string;
}
