import { describe, expect, it } from 'vitest';
import {
  GIVEN_UP_REFUND,
  PAID_REFUND,
  REFUND_NEEDING_ATTENTION,
  refundStatusAfterReport,
  REFUND_STATUSES,
} from '#domain/cancellation/refund.ts';

const REPORTED = ['expected', 'manual_review', 'failed'] as const;

describe('the status of a refund', () => {
  it('is completed only by its credit: a report changes every other status, and never a completed one', () => {
    for (const reported of REPORTED) {
      expect(refundStatusAfterReport(undefined, reported)).toBe(reported);
      for (const status of REFUND_STATUSES)
        expect(refundStatusAfterReport(status, reported)).toBe(status === 'completed' ? status : reported);
    }
  });

  it('can become paid from every status, and fail or need attention from every unpaid one', () => {
    const unpaid = ['expected', 'manual_review', 'failed', 'needs_attention'];
    expect(PAID_REFUND).toEqual({ status: 'completed', from: REFUND_STATUSES });
    expect(GIVEN_UP_REFUND).toEqual({ status: 'failed', from: unpaid });
    expect(REFUND_NEEDING_ATTENTION).toEqual({ status: 'needs_attention', from: unpaid });
  });
});
