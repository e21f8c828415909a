import { describe, expect, it } from 'vitest';
import { RELAY_POLICY } from '#domain/policy/relay-policy.ts';
import { pollWaitMs } from '#domain/relay/relay-decision.ts';

const policy = { pollMs: 5, pollMaxMs: 30 };

describe('the wait until the next poll', () => {
  it('doubles up to its bound while notifications arrive and nothing is found', () => {
    const waits: number[] = [];
    for (let waitMs = 5; waits.length < 4;) {
      waitMs = pollWaitMs({ waitMs, foundRows: false, isHearing: true }, policy);
      waits.push(waitMs);
    }
    expect(waits).toEqual([10, 20, 30, 30]);
  });

  it('is short again when a notification was lost or none arrives', () => {
    expect(pollWaitMs({ waitMs: 30, foundRows: true, isHearing: true }, policy)).toBe(5);
    expect(pollWaitMs({ waitMs: 30, foundRows: false, isHearing: false }, policy)).toBe(5);
  });

  it('is never longer than a configured poll that is longer than the bound', () => {
    expect(pollWaitMs({ waitMs: 60, foundRows: false, isHearing: true }, { pollMs: 60, pollMaxMs: 30 })).toBe(60);
  });

  it('is not longer than a lease, so that a poll sees each lease before it ends', () => {
    expect(RELAY_POLICY.pollMaxMs).toBeLessThanOrEqual(RELAY_POLICY.leaseMs);
  });
});
