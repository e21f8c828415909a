/**
 * Tables of statuses: which status may follow which. A status without followers is final. A kind of work names its
 * table in `domain/work/kinds.ts`.
 */

/** Orders and top-ups. */
export const PURCHASE = {
  accepted: ['held', 'submitting', 'processing', 'completed', 'failed', 'needs_attention', 'abandoned'],
  held: ['submitting', 'processing', 'completed', 'failed', 'needs_attention', 'abandoned'],
  submitting: ['held', 'processing', 'completed', 'failed', 'needs_attention', 'abandoned'],
  processing: ['held', 'submitting', 'completed', 'failed', 'needs_attention', 'abandoned'],
  needs_attention: ['held', 'submitting', 'processing', 'completed', 'failed', 'abandoned'],
  completed: [],
  failed: [],
  abandoned: [],
} as const;

/**
 * VPN subscriptions. `failed` is only possible before the purchase. A cancellation that the service has accepted ends
 * as `cancelled` even without a confirmation before the end of its time: the customer wanted it and the service
 * accepted it. `expired` follows `cancelling` when the service reports it.
 */
export const SUBSCRIPTION = {
  accepted: ['held', 'submitting', 'processing', 'active', 'failed', 'needs_attention', 'abandoned'],
  held: ['submitting', 'processing', 'active', 'failed', 'needs_attention', 'abandoned'],
  submitting: ['held', 'processing', 'active', 'failed', 'needs_attention', 'abandoned'],
  processing: ['held', 'submitting', 'active', 'failed', 'needs_attention', 'abandoned'],
  needs_attention: [
    'held',
    'submitting',
    'processing',
    'active',
    'cancelling',
    'cancelled',
    'expired',
    'failed',
    'abandoned',
  ],
  active: ['needs_attention', 'cancelling', 'cancelled', 'expired'],
  cancelling: ['needs_attention', 'active', 'cancelled', 'expired'],
  cancelled: [],
  expired: [],
  failed: [],
  abandoned: [],
} as const;

/** Cancellations of an eSIM with their refund. `refused`: the eSIM is not cancelled. */
export const CANCELLATION = {
  accepted: ['held', 'submitting', 'processing', 'completed', 'refused', 'needs_attention', 'abandoned'],
  held: ['submitting', 'processing', 'completed', 'refused', 'needs_attention', 'abandoned'],
  submitting: ['held', 'processing', 'completed', 'refused', 'needs_attention', 'abandoned'],
  processing: ['held', 'submitting', 'completed', 'refused', 'needs_attention', 'abandoned'],
  needs_attention: ['held', 'submitting', 'processing', 'completed', 'refused', 'abandoned'],
  completed: [],
  refused: [],
  abandoned: [],
} as const;
