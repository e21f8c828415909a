/**
 * Work: an order, a top-up, a VPN subscription or a cancellation, each carried out by one workflow. What all kinds share
 * (inbox, outbox, relay, sweeper, cases, timeline) names work by kind and id.
 */

/** The properties of a kind that every layer needs. A property that one layer needs is in a table of that layer. */
interface KindOfWork {
  /** Noun of the kind in a sentence. */
  readonly noun: string;
  /** Prefix of our ids. */
  readonly idPrefix: string;
  /** Path of its list in our API. */
  readonly path: string;
  /** Letter in the cursors of its list, so that a cursor of another list is refused. */
  readonly cursorLetter: string;
  /** Its workflow type in Temporal. */
  readonly workflowType: string;
  /** Value of the search attribute `Product`. */
  readonly product: string;
  /** Static summary of its workflow in the Temporal UI. */
  readonly summary: string;
  /** True when it spends money at the service. */
  readonly isPurchase: boolean;
}

export const KINDS = {
  order: {
    noun: 'order',
    idPrefix: 'ord',
    path: '/v1/orders',
    cursorLetter: 'o',
    workflowType: 'orderWorkflow',
    product: 'esim-order',
    summary: 'Buys one eSIM package from the service and delivers the eSIM.',
    isPurchase: true,
  },
  topup: {
    noun: 'top-up',
    idPrefix: 'top',
    path: '/v1/topups',
    cursorLetter: 'u',
    workflowType: 'topupWorkflow',
    product: 'esim-topup',
    summary: 'Recharges one eSIM with a data package.',
    isPurchase: true,
  },
  vpn_subscription: {
    noun: 'VPN subscription',
    idPrefix: 'vpn',
    path: '/v1/vpn/subscriptions',
    cursorLetter: 'v',
    workflowType: 'vpnSubscriptionWorkflow',
    product: 'vpn-subscription',
    summary: 'Buys a VPN subscription and follows it until it is cancelled or expires.',
    isPurchase: true,
  },
  cancellation: {
    noun: 'cancellation',
    idPrefix: 'can',
    path: '/v1/cancellations',
    cursorLetter: 'x',
    workflowType: 'cancellationWorkflow',
    product: 'esim-cancellation',
    summary: 'Cancels one eSIM and follows its refund until the money is back in the wallet.',
    isPurchase: false,
  },
} as const satisfies Record<string, KindOfWork>;

export type WorkKind = keyof typeof KINDS;

export const WORK_KINDS = Object.keys(KINDS) as [WorkKind, ...WorkKind[]];

/** One property of all kinds, by kind. */
export function byKind<Property extends keyof KindOfWork>(
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
