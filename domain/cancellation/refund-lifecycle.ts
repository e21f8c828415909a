/**
 * The lifecycle of a refund, as our API shows it: the next status for each event and each status. `refund.ts` judges
 * the service's reports before they come here.
 */
import { REFUND_STATUSES, type RefundStatus } from '#domain/cancellation/refund.ts';

/** The statuses of a refund, and `none` while no refund is known. */
export const REFUND_STATUSES_OR_NONE = ['none', ...REFUND_STATUSES] as const;
export type RefundStatusOrNone = (typeof REFUND_STATUSES_OR_NONE)[number];

/** What can happen to a refund. */
export const REFUND_EVENTS = {
  expected: 'The service processes it, or the eSIM is cancelled and the service has not reported on the refund.',
  manual_review: 'The service reports that one of its employees reviews it.',
  failed: 'The service reports that it failed.',
  paid: 'Its money was found in the wallet, or a person saw it there.',
  given_up: 'Its cancellation ended without it.',
  case_opened: 'A case is open because of it: its cancellation needs attention.',
  undone: 'A person says that the eSIM is not cancelled.',
} as const;

export type RefundEvent = keyof typeof REFUND_EVENTS;

/** The next status by event and present status. Every pair has a decision; `unchanged`: the status stays. */
export const REFUND_LIFECYCLE = {
  // Money that was found in the wallet stays there: a later report does not reopen a completed refund.
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
  // The service may still pay a refund that failed. A refund without a row is stored as expected before it is settled.
  paid: {
    none: 'unchanged',
    expected: 'completed',
    manual_review: 'completed',
    completed: 'completed',
    failed: 'completed',
    needs_attention: 'completed',
  },
  given_up: {
    none: 'unchanged',
    expected: 'failed',
    manual_review: 'failed',
    completed: 'unchanged',
    failed: 'failed',
    needs_attention: 'failed',
  },
  case_opened: {
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
} as const satisfies Record<RefundEvent, Record<RefundStatusOrNone, RefundStatusOrNone | 'unchanged'>>;

/**
 * The status of a refund after a report of the service.
 *
 * @param known the present status; undefined before the first report.
 */
export function refundStatusAfterReport(
  known: RefundStatus | undefined,
  reported: 'expected' | 'manual_review' | 'failed',
): RefundStatus {
  if (known === undefined) return REFUND_LIFECYCLE[reported].none;
  const next = REFUND_LIFECYCLE[reported][known];
  return next === 'unchanged' ? known : next;
}

/** The status after an event, and the statuses that the event changes: one UPDATE can store it without a read. */
function change(event: 'paid' | 'given_up' | 'case_opened') {
  return {
    status: REFUND_LIFECYCLE[event].expected,
    from: REFUND_STATUSES.filter((status) => REFUND_LIFECYCLE[event][status] !== 'unchanged'),
  } as const;
}

export const PAID_REFUND = change('paid');
export const GIVEN_UP_REFUND = change('given_up');
export const REFUND_NEEDING_ATTENTION = change('case_opened');
