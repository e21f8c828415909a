/**
 * The life of an order (and, later, of a top-up) as tables: what each status means and what to make of what the
 * service says about it. Everything that comes early, late, twice or out of order is decided here.
 */

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

/** True when the order has reached its end. */
export function isFinal(status: OrderStatus): boolean {
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

/** What the service said about an order, by webhook or in an answer to a read. */
export const OBSERVED_OUTCOMES = ['processing', 'completed', 'failed'] as const;
export type ObservedOutcome = (typeof OBSERVED_OUTCOMES)[number];

/** What to do with an observation. */
export type ObservationDecision =
  /** It tells something new: move on. */
  | 'advance'
  /** It says what is known already, or something older: record it, change nothing. */
  | 'known'
  /** It contradicts the end that was reached: stop, open a case, never buy again. */
  | 'contradiction';

/** Every pair of status and observed outcome has a decision. */
export const OBSERVATION_DECISIONS = {
  accepted: { processing: 'advance', completed: 'advance', failed: 'advance' },
  held: { processing: 'advance', completed: 'advance', failed: 'advance' },
  submitting: { processing: 'advance', completed: 'advance', failed: 'advance' },
  processing: { processing: 'known', completed: 'advance', failed: 'advance' },
  needs_attention: { processing: 'advance', completed: 'advance', failed: 'advance' },
  completed: { processing: 'known', completed: 'known', failed: 'contradiction' },
  failed: { processing: 'known', completed: 'contradiction', failed: 'known' },
  abandoned: { processing: 'contradiction', completed: 'contradiction', failed: 'known' },
} as const satisfies Record<OrderStatus, Record<ObservedOutcome, ObservationDecision>>;

/** Decides what an observation means for an order in this status. */
export function judgeObservation(status: OrderStatus, outcome: ObservedOutcome): ObservationDecision {
  return OBSERVATION_DECISIONS[status][outcome];
}
