import type { Trait } from '#domain/service/capability-profile.ts';
import type { FailureClass } from '#domain/work/failure.ts';

/** Sentences about work that differ between kinds. A kind of work names its texts in `domain/work/kinds.ts`. */

/** Why a caller should submit the same again, or should not. */
interface ResubmissionTexts {
  /** The text while a case leaves open whether it happened. */
  readonly in_doubt: string;
  readonly done: string;
  /** Done, and ended since. */
  readonly over: string;
  readonly not_done: string;
  readonly under_way: string;
  readonly unknown: string;
  readonly waiting: string;
}

export interface KindTexts {
  /** The service works on it. */
  readonly processing: (noun: string) => string;
  /** A clause: the end of work that is held for too long. */
  readonly heldTooLong: string;
  /** A clause: the state after abandonment. */
  readonly leftBehind: string;
  readonly resubmission: ResubmissionTexts;
  /** What a verdict of an operator means for it. */
  readonly verdicts: { readonly bought: string; readonly not_bought: string };
}

/** Texts of purchases. */
const PURCHASE_TEXTS: KindTexts = {
  processing: (noun) => `The service has accepted the ${noun} and works on it.`,
  heldTooLong: 'fails without having bought',
  leftBehind: 'nothing was bought',
  resubmission: {
    in_doubt: 'A case is open about it: it may have been bought or charged, even if its status does not show that.',
    done: 'It is bought.',
    over: 'It was bought and has ended. Another one is a new purchase.',
    not_done: 'It has ended, and nothing was bought as far as is known.',
    under_way: 'It may be bought already, or it will be bought soon.',
    unknown: 'It may have been bought or charged; that is not known yet.',
    waiting:
      'Nothing is bought so far, but this one may still be bought. A second one would be bought as well: abandon ' +
      'this one first.',
  },
  verdicts: {
    bought: 'The service sold it, and it will be delivered. Add its id at the service: `--help` names the option.',
    not_bought:
      'The service sold nothing for this attempt and keeps no money. It is bought again if a further attempt is ' +
      'allowed and fails otherwise, or ends with `--next abandon`.',
  },
};

/** Texts of cancellations of eSIMs. */
const CANCELLATION_TEXTS: KindTexts = {
  processing: () => 'The service decides about the cancellation or its refund.',
  heldTooLong: 'is refused without having been sent',
  leftBehind: 'the eSIM is unchanged',
  resubmission: {
    in_doubt: 'A case is open about it: the eSIM may be cancelled, even if its status does not show that.',
    done: 'The eSIM is cancelled.',
    over: 'The eSIM is cancelled.',
    not_done: 'It has ended, and cancelled nothing as far as is known.',
    under_way: 'The eSIM may be cancelled already, or it will be cancelled soon.',
    unknown: 'The eSIM may be cancelled; that is not known yet.',
    waiting: 'Nothing is cancelled so far, but this one may still be carried out. Abandon it first.',
  },
  verdicts: {
    bought: 'The eSIM is cancelled at the service. Its refund is awaited.',
    not_bought: 'The eSIM is not cancelled. The cancellation is requested anew, or ends with `--next abandon`.',
  },
};

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
