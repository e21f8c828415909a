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
} from '#domain/cancellation/refund-lifecycle.ts';
import { REFUND_STATUSES } from '#domain/cancellation/refund.ts';

const EVENTS = Object.keys(REFUND_EVENTS) as RefundEvent[];
const TOLD = ['expected', 'manual_review', 'failed'] as const;
const everything = REFUND_STATUSES_OR_NONE.flatMap((standing) => EVENTS.map((event) => ({ standing, event })));

function after(standing: RefundStatusOrNone, event: RefundEvent): RefundStatusOrNone {
  const next = REFUND_LIFECYCLE[event][standing];
  return next === 'unchanged' ? standing : next;
}

function reachableFrom(start: RefundStatusOrNone, events: readonly RefundEvent[]): Set<RefundStatusOrNone> {
  const found = new Set<RefundStatusOrNone>([start]);
  // What is added while it is gone through is gone through as well.
  for (const standing of found) {
    for (const event of events) found.add(after(standing, event));
  }
  return found;
}

/** The table once more, as sentences. */
function meaning(standing: RefundStatusOrNone, event: RefundEvent): RefundStatusOrNone {
  switch (event) {
    // What is completed is in the wallet: no word of the service takes it out, and nobody need look at it.
    case 'expected':
    case 'manual_review':
    case 'failed':
      return standing === 'completed' ? standing : event;
    case 'case_opened':
      return standing === 'completed' || standing === 'none' ? standing : 'needs_attention';
    // What nobody knows of is not settled.
    case 'paid':
      return standing === 'none' ? standing : 'completed';
    case 'given_up':
      return standing === 'none' || standing === 'completed' ? standing : 'failed';
    case 'undone':
      return 'none';
  }
}

describe('the life of a refund', () => {
  it('decides every pair of standing and event, and as the sentences of this file do', () => {
    expect(everything).toHaveLength(6 * 7);
    expect(Object.keys(REFUND_LIFECYCLE)).toEqual(EVENTS);
    expect(everything.map(({ standing, event }) => ({ standing, event, next: after(standing, event) }))).toEqual(
      everything.map(({ standing, event }) => ({ standing, event, next: meaning(standing, event) })),
    );
  });

  it('reaches every status from none', () => {
    expect(reachableFrom('none', EVENTS)).toEqual(new Set(['none', ...REFUND_STATUSES]));
  });

  it('has a way out of every status that is not settled, to both ends', () => {
    for (const status of ['expected', 'manual_review', 'needs_attention'] as const) {
      expect([...reachableFrom(status, EVENTS)]).toEqual(expect.arrayContaining(['completed', 'failed']));
    }
  });

  it('is paid only once its money was found: no word of the service completes it', () => {
    const words = EVENTS.filter((event) => event !== 'paid');
    for (const standing of REFUND_STATUSES_OR_NONE.filter((each) => each !== 'completed'))
      expect(reachableFrom(standing, words)).not.toContain('completed');
  });

  it('can still be paid after it failed', () => {
    expect(after('failed', 'paid')).toBe('completed');
  });

  it('gives the status after each report of the service, the first one included', () => {
    for (const told of TOLD) {
      expect(refundStatusAfterReport(undefined, told)).toBe(told);
      for (const status of REFUND_STATUSES) expect(refundStatusAfterReport(status, told)).toBe(after(status, told));
    }
  });

  it('is paid from everywhere, and let go or case_opened from everywhere but from the wallet', () => {
    const unpaid = ['expected', 'manual_review', 'failed', 'needs_attention'];
    expect(PAID_REFUND).toEqual({ status: 'completed', from: REFUND_STATUSES });
    expect(GIVEN_UP_REFUND).toEqual({ status: 'failed', from: unpaid });
    expect(REFUND_NEEDING_ATTENTION).toEqual({ status: 'needs_attention', from: unpaid });
  });

  it('says in a sentence what each event is', () => {
    for (const sentence of Object.values(REFUND_EVENTS)) expect(sentence).toMatch(/^[A-Z].*[^.]\.$/);
  });
});
