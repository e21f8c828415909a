import type { Trait } from '#domain/service/capability-profile.ts';
import type { FailureClass } from '#domain/work/failure.ts';

interface ResubmissionTexts {
  readonly in_doubt: string;
  readonly done: string;
  readonly over: string;
  readonly not_done: string;
  readonly under_way: string;
  readonly unknown: string;
  readonly waiting: string;
}

export interface KindTexts {
  readonly processing: (noun: string) => string;
  readonly heldTooLong: string;
  readonly leftBehind: string;
  readonly resubmission: ResubmissionTexts;
  readonly verdicts: { readonly bought: string; readonly not_bought: string };
}

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

/** Properties that every layer needs. A property that one layer needs is in a table of that layer. */
interface KindOfWork {
  readonly noun: string;
  readonly idPrefix: string;
  readonly command: string;
  readonly path: string;
  /** As in `orders:read`. */
  readonly scope: string;
  /** Part of the cursors of its list, so that a cursor of another list is refused. */
  readonly cursorLetter: string;
  readonly workflowType: string;
  readonly product: string;
  readonly summary: string;
  /** What was asked of the service definitely did not happen. */
  readonly endWithoutEffect: 'failed' | 'refused';
  /** The class for an attempt that the service accepted and then reported as failed. */
  readonly failureReported: FailureClass;
  /** It spends money: wallet movements are looked for before a further attempt. */
  readonly isPurchase: boolean;
  readonly isRenewed: boolean;
  readonly isRefund: boolean;
  /** `existing`: only one piece of such work may be under way for an eSIM. */
  readonly esim: 'none' | 'existing' | 'delivered';
  /** More must be read after the service reported success. */
  readonly hasDelivery: boolean;
  /** `esim`: the service has no id of its own for it. */
  readonly reportsName: 'id' | 'id_or_esim' | 'esim';
  readonly callerReference?: `external_${string}_id`;
  readonly productNoun: 'package' | 'plan';
  /** The trait that says that purchases of the kind were seen through. */
  readonly seenTrait?: Trait;
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

export type PurchaseKind = {
  [Kind in WorkKind]: (typeof KINDS)[Kind]['isPurchase'] extends true ? Kind : never;
}[WorkKind];

export const PURCHASE_KINDS = WORK_KINDS.filter((kind): kind is PurchaseKind => KINDS[kind].isPurchase);

export function eachKind<Value>(make: (kind: WorkKind) => Value): Readonly<Record<WorkKind, Value>> {
  return Object.fromEntries(WORK_KINDS.map((kind) => [kind, make(kind)])) as Record<WorkKind, Value>;
}

export function byKind<Property extends keyof (typeof KINDS)[WorkKind]>(
  property: Property,
): { readonly [Kind in WorkKind]: (typeof KINDS)[Kind][Property] } {
  const entries = WORK_KINDS.map((kind) => [kind, KINDS[kind][property]] as const);
  return Object.fromEntries(entries) as { readonly [Kind in WorkKind]: (typeof KINDS)[Kind][Property] };
}

export interface WorkRef {
  readonly kind: WorkKind;
  readonly id: string;
}
