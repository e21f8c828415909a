/**
 * Work: what is carried out durably, one workflow for each. Whatever is common to all kinds (the inbox, the outbox, the
 * relay, the sweeper, the cases, the timeline) speaks of work by kind and id.
 */

export const WORK_KINDS = ['order', 'topup', 'vpn_subscription', 'cancellation'] as const;
export type WorkKind = (typeof WORK_KINDS)[number];

/** One piece of work; the id is ours. */
export interface WorkRef {
  readonly kind: WorkKind;
  readonly id: string;
}

/** How a sentence names each kind. */
export const WORK_NOUNS = {
  order: 'order',
  topup: 'top-up',
  vpn_subscription: 'VPN subscription',
  cancellation: 'cancellation',
} as const satisfies Record<WorkKind, string>;
