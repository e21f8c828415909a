/** The life of an order (and, later, of a top-up) as a table: which status may follow which. */

export const ORDER_STATUSES = [
  'accepted',
  'held',
  'submitting',
  'processing',
  'completed',
  'failed',
  'needs_attention',
  'abandoned',
] as const;

export type OrderStatus = (typeof ORDER_STATUSES)[number];

/** Statuses that no workflow runs for any more. */
export const FINAL_ORDER_STATUSES = ['completed', 'failed', 'abandoned'] as const satisfies readonly OrderStatus[];

export type FinalOrderStatus = (typeof FINAL_ORDER_STATUSES)[number];

/** True when the order has reached its end. */
export function isFinal(status: OrderStatus): status is FinalOrderStatus {
  return (FINAL_ORDER_STATUSES as readonly OrderStatus[]).includes(status);
}

/**
 * The statuses that may follow each one. The database layer refuses any other change, so that a bug in a workflow
 * cannot reopen finished work.
 */
export const ORDER_TRANSITIONS = {
  accepted: ['held', 'submitting', 'processing', 'completed', 'failed', 'needs_attention', 'abandoned'],
  held: ['submitting', 'processing', 'completed', 'failed', 'needs_attention', 'abandoned'],
  submitting: ['held', 'processing', 'completed', 'failed', 'needs_attention', 'abandoned'],
  processing: ['held', 'submitting', 'completed', 'failed', 'needs_attention', 'abandoned'],
  needs_attention: ['held', 'submitting', 'processing', 'completed', 'failed', 'abandoned'],
  completed: [],
  failed: [],
  abandoned: [],
} as const satisfies Record<OrderStatus, readonly OrderStatus[]>;

/** True when `to` may follow `from`; staying where one is always may. */
export function mayFollow(from: OrderStatus, to: OrderStatus): boolean {
  return from === to || (ORDER_TRANSITIONS[from] as readonly OrderStatus[]).includes(to);
}
