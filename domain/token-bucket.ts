/** Tokens come back at a constant rate. Unlike a counter with fixed windows, it never lets twice the limit through. */

export interface Quota {
  readonly count: number;
  readonly windowMs: number;
}

export interface Bucket {
  readonly tokens: number;
  readonly at: number;
}

interface Taking {
  readonly bucket: Bucket;
  readonly taken: boolean;
  readonly remaining: number;
  readonly fullInMs: number;
  readonly nextInMs: number;
}

/** @param burstMs time of silence whose tokens may be used at once. */
export function quotaPerMinute(perMinute: number, burstMs: number): Quota {
  const count = Math.max(1, Math.floor((perMinute * burstMs) / 60_000));
  return { count, windowMs: (count * 60_000) / perMinute };
}

/** @param before undefined: a full bucket. @param now epoch milliseconds. */
export function takeToken(before: Bucket | undefined, quota: Quota, now: number): Taking {
  const there = tokensAt(before, quota, now);
  const taken = there >= 1;
  const tokens = taken ? there - 1 : there;
  const perToken = quota.windowMs / quota.count;
  return {
    // The clock may go back; the time until `before.at` was counted already.
    bucket: { tokens, at: Math.max(now, before?.at ?? now) },
    taken,
    remaining: Math.floor(tokens),
    fullInMs: (quota.count - tokens) * perToken,
    nextInMs: tokens >= 1 ? 0 : (1 - tokens) * perToken,
  };
}

/** A clock that goes back neither adds nor removes tokens. @param now epoch milliseconds. */
export function tokensAt(before: Bucket | undefined, { count, windowMs }: Quota, now: number): number {
  if (before === undefined) return count;
  return Math.min(count, before.tokens + (Math.max(0, now - before.at) * count) / windowMs);
}
