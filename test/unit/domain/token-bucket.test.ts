import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { quotaPerMinute, takeToken, type Bucket } from '#domain/token-bucket.ts';
import { assertForAll } from '#test/support/for-all.ts';

describe('a token bucket', () => {
  it('allows a full bucket at once, then one per interval, and returns the waiting time', () => {
    const quota = { count: 3, windowMs: 3_000 };
    let bucket: Bucket | undefined;
    const take = (now: number) => {
      const result = takeToken(bucket, quota, now);
      bucket = result.bucket;
      const { taken, remaining, fullInMs, nextInMs } = result;
      return { taken, remaining, fullInMs, nextInMs };
    };
    expect(take(0)).toEqual({ taken: true, remaining: 2, fullInMs: 1_000, nextInMs: 0 });
    expect(take(0)).toEqual({ taken: true, remaining: 1, fullInMs: 2_000, nextInMs: 0 });
    expect(take(0)).toEqual({ taken: true, remaining: 0, fullInMs: 3_000, nextInMs: 1_000 });
    expect(take(400)).toEqual({ taken: false, remaining: 0, fullInMs: 2_600, nextInMs: 600 });
    expect(take(1_000)).toEqual({ taken: true, remaining: 0, fullInMs: 3_000, nextInMs: 1_000 });
    expect(take(60_000)).toMatchObject({ taken: true, remaining: 2 });
  });

  it('never allows more than its capacity and refill, for any rhythm and clock change', () => {
    const rhythm = fc.array(fc.integer({ min: -50, max: 2_000 }), { maxLength: 300 });
    assertForAll(fc.integer({ min: 1, max: 6_000 }), rhythm, (perMinute, pauses) => {
      const quota = quotaPerMinute(perMinute, 10_000);
      let bucket: Bucket | undefined;
      let now = 1_000_000;
      // The first request finds a full bucket; tokens come back from then on.
      const first = now + (pauses[0] ?? 0);
      let latest = first;
      let took = 0;
      for (const pause of pauses) {
        now += pause;
        const result = takeToken(bucket, quota, now);
        bucket = result.bucket;
        took += result.taken ? 1 : 0;
        latest = Math.max(latest, now);
      }
      expect(took).toBeLessThanOrEqual(quota.count + ((latest - first) * perMinute) / 60_000 + 1e-6);
    });
  });

  it.each([
    [6_000, { count: 1_000, windowMs: 10_000 }],
    [60, { count: 10, windowMs: 10_000 }],
    [3, { count: 1, windowMs: 20_000 }],
  ])('of %i a minute refills at that rate', (perMinute, quota) => {
    expect(quotaPerMinute(perMinute, 10_000)).toEqual(quota);
  });
});
