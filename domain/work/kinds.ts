import type { Trait } from '#domain/service/capability-profile.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import { CANCELLATION_TEXTS, PURCHASE_TEXTS, type KindTexts } from '#domain/work/kind-texts.ts';
import { CANCELLATION, PURCHASE, SUBSCRIPTION } from '#domain/work/transitions.ts';

/**
 * Work: an order, a top-up, a VPN subscription or a cancellation, each carried out by one workflow. What all kinds
 * share (inbox, outbox, relay, sweeper, cases, timeline) names work by kind and id.
 */

/** The properties of a kind that every layer needs. A property that one layer needs is in a table of that layer. */
interface KindOfWork {
  /** Noun of the kind in a sentence. */
  readonly noun: string;
  /** Prefix of our ids. */
  readonly idPrefix: string;
  /** Its command: `npx reseller <command>`. */
  readonly command: string;
  /** Path of its list in our API. */
  readonly path: string;
  /** The first part of its API scopes, as in `orders:read`. */
  readonly scope: string;
  /** Letter in the cursors of its list, so that a cursor of another list is refused. */
  readonly cursorLetter: string;
  /** Its workflow type in Temporal. */
  readonly workflowType: string;
  /** Value of the search attribute `Product`. */
  readonly product: string;
  /** Static summary of its workflow in the Temporal UI. */
  readonly summary: string;
  /** Which status may follow which. */
  readonly transitions: Readonly<Record<string, readonly string[]>>;
  /** The final status when what was asked of the service definitely did not happen. */
  readonly endWithoutEffect: 'failed' | 'refused';
  /** The failure class of an attempt that the service accepted and then reported as failed. */
  readonly failureReported: FailureClass;
  /** True when it spends money at the service. Otherwise no wallet movement is looked for before a further attempt. */
  readonly isPurchase: boolean;
  /** True when the service charges again for each further period. */
  readonly isRenewed: boolean;
  /** True when it is completed by money that comes back. */
  readonly isRefund: boolean;
  /**
   * Its eSIM. `existing`: it changes an eSIM that exists, so that only one piece of such work may be under way for it.
   * `delivered`: the eSIM is known once it is bought.
   */
  readonly esim: 'none' | 'existing' | 'delivered';
  /** True when more must be read at the service after it reported success. */
  readonly hasDelivery: boolean;
  /**
   * The id that every report contains. `esim`: the service has no id of its own for it, so that a stored report is
   * matched by the eSIM also later.
   */
  readonly reportsName: 'id' | 'id_or_esim' | 'esim';
  /** The field of our API with the caller's own reference, which stands for one piece of work for good. */
  readonly callerReference?: `external_${string}_id`;
  /** What is ordered, in a sentence about its id. */
  readonly productNoun: 'package' | 'plan';
  /** The trait of a capability profile that says that purchases of the kind were seen through. */
  readonly seenTrait?: Trait;
  /** Sentences about it. */
  readonly texts: KindTexts;
}

export const KINDS = {
  order: {
    noun: 'order',
    idPrefix: 'ord',
    command: 'orders',
    path: '/v1/orders',
    scope: 'orders',
    cursorLetter: 'o',
    workflowType: 'orderWorkflow',
    product: 'esim-order',
    summary: 'Buys one eSIM package from the service and delivers the eSIM.',
    transitions: PURCHASE,
    endWithoutEffect: 'failed',
    failureReported: 'supplier_failed',
    isPurchase: true,
    isRenewed: false,
    isRefund: false,
    esim: 'delivered',
    hasDelivery: true,
    reportsName: 'id',
    callerReference: 'external_order_id',
    productNoun: 'package',
    seenTrait: 'order_seen',
    texts: PURCHASE_TEXTS,
  },
  topup: {
    noun: 'top-up',
    idPrefix: 'top',
    command: 'topups',
    path: '/v1/topups',
    scope: 'topups',
    cursorLetter: 'u',
    workflowType: 'topupWorkflow',
    product: 'esim-topup',
    summary: 'Recharges one eSIM with a data package.',
    transitions: PURCHASE,
    endWithoutEffect: 'failed',
    failureReported: 'supplier_failed',
    isPurchase: true,
    isRenewed: false,
    isRefund: false,
    esim: 'existing',
    hasDelivery: false,
    reportsName: 'id_or_esim',
    callerReference: 'external_topup_id',
    productNoun: 'package',
    seenTrait: 'topup_seen',
    texts: PURCHASE_TEXTS,
  },
  vpn_subscription: {
    noun: 'VPN subscription',
    idPrefix: 'vpn',
    command: 'vpn',
    path: '/v1/vpn/subscriptions',
    scope: 'vpn',
    cursorLetter: 'v',
    workflowType: 'vpnSubscriptionWorkflow',
    product: 'vpn-subscription',
    summary: 'Buys a VPN subscription and follows it until it is cancelled or expires.',
    transitions: SUBSCRIPTION,
    endWithoutEffect: 'failed',
    failureReported: 'supplier_failed',
    isPurchase: true,
    isRenewed: true,
    isRefund: false,
    esim: 'none',
    hasDelivery: true,
    reportsName: 'id',
    callerReference: 'external_subscription_id',
    productNoun: 'plan',
    seenTrait: 'vpn_seen',
    texts: PURCHASE_TEXTS,
  },
  cancellation: {
    noun: 'cancellation',
    idPrefix: 'can',
    command: 'cancellations',
    path: '/v1/cancellations',
    scope: 'cancellations',
    cursorLetter: 'x',
    workflowType: 'cancellationWorkflow',
    product: 'esim-cancellation',
    summary: 'Cancels one eSIM and follows its refund until the money is back in the wallet.',
    transitions: CANCELLATION,
    endWithoutEffect: 'refused',
    failureReported: 'cancellation_refused',
    isPurchase: false,
    isRenewed: false,
    isRefund: true,
    esim: 'existing',
    hasDelivery: false,
    reportsName: 'esim',
    productNoun: 'package',
    texts: CANCELLATION_TEXTS,
  },
} as const satisfies Record<string, KindOfWork>;

export type WorkKind = keyof typeof KINDS;

export const WORK_KINDS = Object.keys(KINDS) as [WorkKind, ...WorkKind[]];

/** Kinds of work that spend money. */
export type PurchaseKind = {
  [Kind in WorkKind]: (typeof KINDS)[Kind]['isPurchase'] extends true ? Kind : never;
}[WorkKind];

export const PURCHASE_KINDS = WORK_KINDS.filter((kind): kind is PurchaseKind => KINDS[kind].isPurchase);

/** Makes one value for each kind. */
export function eachKind<Value>(make: (kind: WorkKind) => Value): Readonly<Record<WorkKind, Value>> {
  return Object.fromEntries(WORK_KINDS.map((kind) => [kind, make(kind)])) as Record<WorkKind, Value>;
}

/** One property of all kinds, by kind. */
export function byKind<Property extends keyof (typeof KINDS)[WorkKind]>(
  property: Property,
): { readonly [Kind in WorkKind]: (typeof KINDS)[Kind][Property] } {
  const entries = WORK_KINDS.map((kind) => [kind, KINDS[kind][property]] as const);
  // The keys are those of the table, and each value is read from the entry of its key.
  return Object.fromEntries(entries) as { readonly [Kind in WorkKind]: (typeof KINDS)[Kind][Property] };
}

/** One piece of work; the id is ours. */
export interface WorkRef {
  readonly kind: WorkKind;
  readonly id: string;
}
