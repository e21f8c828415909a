import { describe, expect, it } from 'vitest';
import {
  GIVEN_UP_REFUND,
  PAID_REFUND,
  REFUND_NEEDING_ATTENTION,
  REFUND_EVENTS,
  REFUND_LIFECYCLE,
  REFUND_STATUSES_OR_NONE,
  refundStatusAfterReport,
  type RefundEvent,
  type RefundStatusOrNone,
  REFUND_STATUSES,
} from '#domain/cancellation/refund.ts';

const EVENTS = Object.keys(REFUND_EVENTS) as RefundEvent[];
const REPORTED = ['expected', 'manual_review', 'failed'] as const;
const everything = REFUND_STATUSES_OR_NONE.flatMap((status) => EVENTS.map((event) => ({ status, event })));

function after(status: RefundStatusOrNone, event: RefundEvent): RefundStatusOrNone {
  const next = REFUND_LIFECYCLE[event][status];
  return next === 'unchanged' ? status : next;
}

function reachableFrom(start: RefundStatusOrNone, events: readonly RefundEvent[]): Set<RefundStatusOrNone> {
  const found = new Set<RefundStatusOrNone>([start]);
  // The loop also visits statuses that are added while it runs.
  for (const status of found) {
    for (const event of events) found.add(after(status, event));
  }
  return found;
}

/** The table a second time, as conditions. */
function meaning(status: RefundStatusOrNone, event: RefundEvent): RefundStatusOrNone {
  switch (event) {
    // A completed refund is in the wallet. No report of the service changes that, and no operator must act.
    case 'expected':
    case 'manual_review':
    case 'failed':
      return status === 'completed' ? status : event;
    case 'case_opened':
      return status === 'completed' || status === 'none' ? status : 'needs_attention';
    // An unknown refund cannot be settled.
    case 'paid':
      return status === 'none' ? status : 'completed';
    case 'given_up':
      return status === 'none' || status === 'completed' ? status : 'failed';
    case 'undone':
      return 'none';
  }
}

describe('the lifecycle of a refund', () => {
  it('defines a status for every pair of status and event, equal to the conditions of this file', () => {
    expect(everything).toHaveLength(6 * 7);
    expect(Object.keys(REFUND_LIFECYCLE)).toEqual(EVENTS);
    expect(everything.map(({ status, event }) => ({ status, event, next: after(status, event) }))).toEqual(
      everything.map(({ status, event }) => ({ status, event, next: meaning(status, event) })),
    );
  });

  it('reaches every status from none', () => {
    expect(reachableFrom('none', EVENTS)).toEqual(new Set(['none', ...REFUND_STATUSES]));
  });

  it('is completed only by its credit, never by a report of the service', () => {
    const reports = EVENTS.filter((event) => event !== 'paid');
    for (const status of REFUND_STATUSES_OR_NONE.filter((each) => each !== 'completed'))
      expect(reachableFrom(status, reports)).not.toContain('completed');
  });

  it('has the correct status after each report of the service, including the first', () => {
    for (const reported of REPORTED) {
      expect(refundStatusAfterReport(undefined, reported)).toBe(reported);
      for (const status of REFUND_STATUSES)
        expect(refundStatusAfterReport(status, reported)).toBe(after(status, reported));
    }
  });

  it('can be paid from every status, and fail or need attention from every unpaid one', () => {
    const unpaid = ['expected', 'manual_review', 'failed', 'needs_attention'];
    expect(PAID_REFUND).toEqual({ status: 'completed', from: REFUND_STATUSES });
    expect(GIVEN_UP_REFUND).toEqual({ status: 'failed', from: unpaid });
    expect(REFUND_NEEDING_ATTENTION).toEqual({ status: 'needs_attention', from: unpaid });
  });
});
