import { describe, expect, it } from 'vitest';
import { retryAfterSeconds, isWaitOver, isFinished, WORK_STATUSES } from '#domain/work/lifecycle.ts';

describe('a wait of a caller', () => {
  it('ends when the work is finished, or when an operator must decide', () => {
    expect(WORK_STATUSES.filter(isFinished).toSorted()).toEqual([
      'abandoned',
      'active',
      'cancelled',
      'completed',
      'expired',
      'failed',
      'refused',
    ]);
    expect(WORK_STATUSES.filter((status) => !isWaitOver(status)).toSorted()).toEqual([
      'accepted',
      'cancelling',
      'held',
      'processing',
      'submitting',
    ]);
  });

  it.each([
    ['processing', null, 2],
    ['processing', 40_000, 2],
    ['needs_attention', null, 60],
    ['held', null, 2],
    ['held', -5_000, 2],
    ['held', 15_001, 16],
    ['held', 3_600_000, 60],
  ] as const)('returns Retry-After for %s with a next step in %s ms: %s s', (status, inMs, seconds) => {
    expect(retryAfterSeconds(status, inMs === null ? null : 1_000_000 + inMs, 1_000_000)).toBe(seconds);
  });
});
