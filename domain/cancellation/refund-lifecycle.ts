/**
 * The life of a refund, as our API shows it, as a table: which status follows when something happens to it. What the
 * service says of it is judged in `refund.ts` before it comes here.
 */
import { REFUND_STATUSES, type RefundStatus } from '#domain/cancellation/refund.ts';

/** A status, or `none`: no refund is known of. */
export const REFUND_STANDINGS = ['none', ...REFUND_STATUSES] as const;
export type RefundStanding = (typeof REFUND_STANDINGS)[number];

/** What can happen to a refund. */
export const REFUND_EVENTS = {
  expected: 'The service works on it, or the eSIM is cancelled and nothing was said of its refund.',
  manual_review: 'The service says that a person there looks at it.',
  failed: 'The service says that it failed.',
  paid: 'Its money was found in the wallet, or a person saw it there.',
  let_go: 'Its cancellation has ended without it.',
  parked: 'Its cancellation waits for a person because of it.',
  undone: 'A person says that the eSIM is not cancelled.',
} as const;

export type RefundEvent = keyof typeof REFUND_EVENTS;

/** By what happens, and by the standing that it finds. Every pair has a decision; `unchanged`: it moves nothing. */
export const REFUND_LIFECYCLE = {
  // What is found in the wallet stays there, whatever is said later.
  expected: {
    none: 'expected',
    expected: 'expected',
    manual_review: 'expected',
    completed: 'unchanged',
    failed: 'expected',
    needs_attention: 'expected',
  },
  manual_review: {
    none: 'manual_review',
    expected: 'manual_review',
    manual_review: 'manual_review',
    completed: 'unchanged',
    failed: 'manual_review',
    needs_attention: 'manual_review',
  },
  failed: {
    none: 'failed',
    expected: 'failed',
    manual_review: 'failed',
    completed: 'unchanged',
    failed: 'failed',
    needs_attention: 'failed',
  },
  // One that failed may be paid after all. A refund of which there is no row is noted as expected before it is settled.
  paid: {
    none: 'unchanged',
    expected: 'completed',
    manual_review: 'completed',
    completed: 'completed',
    failed: 'completed',
    needs_attention: 'completed',
  },
  let_go: {
    none: 'unchanged',
    expected: 'failed',
    manual_review: 'failed',
    completed: 'unchanged',
    failed: 'failed',
    needs_attention: 'failed',
  },
  parked: {
    none: 'unchanged',
    expected: 'needs_attention',
    manual_review: 'needs_attention',
    completed: 'unchanged',
    failed: 'needs_attention',
    needs_attention: 'needs_attention',
  },
  undone: {
    none: 'unchanged',
    expected: 'none',
    manual_review: 'none',
    completed: 'none',
    failed: 'none',
    needs_attention: 'none',
  },
} as const satisfies Record<RefundEvent, Record<RefundStanding, RefundStanding | 'unchanged'>>;

/** The status of a refund after a word of the service about it. @param known undefined before the first. */
export function refundStatusTold(
  known: RefundStatus | undefined,
  told: 'expected' | 'manual_review' | 'failed',
): RefundStatus {
  if (known === undefined) return REFUND_LIFECYCLE[told].none;
  const next = REFUND_LIFECYCLE[told][known];
  return next === 'unchanged' ? known : next;
}

/**
 * The status that an event brings, and those from which it is come to: whoever stores it need not read the row before.
 */
function brought(event: 'paid' | 'let_go' | 'parked') {
  return {
    status: REFUND_LIFECYCLE[event].expected,
    from: REFUND_STATUSES.filter((status) => REFUND_LIFECYCLE[event][status] !== 'unchanged'),
  } as const;
}

export const PAID_REFUND = brought('paid');
export const LET_GO_REFUND = brought('let_go');
export const PARKED_REFUND = brought('parked');
