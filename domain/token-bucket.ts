/**
 * A bucket of tokens: each request takes one, and they come back evenly. Who was silent may use a full bucket at once;
 * who is busy gets what comes back. Unlike a counter that starts anew with each window, it never lets twice the limit
 * through.
 */

export interface Quota {
  /** Tokens of a full bucket. */
  readonly count: number;
  /** In how long an empty one fills, in milliseconds. */
  readonly windowMs: number;
}

/** How full a bucket was, and when. */
export interface Bucket {
  readonly tokens: number;
  readonly at: number;
}

export interface Taking {
  /** As it is afterwards. */
  readonly bucket: Bucket;
  /** False: there was no whole token, and none was taken. */
  readonly taken: boolean;
  /** Whole tokens that are left. */
  readonly remaining: number;
  /** Until the bucket is full again, if nobody takes any. */
  readonly fullInMs: number;
  /** Until there is a whole token; 0 while there is one. */
  readonly nextInMs: number;
}

/**
 * The quota of a limit by the minute.
 *
 * @param burstMs how much of the time of silence may be used at once.
 */
export function quotaPerMinute(perMinute: number, burstMs: number): Quota {
  const count = Math.max(1, Math.floor((perMinute * burstMs) / 60_000));
  return { count, windowMs: (count * 60_000) / perMinute };
}

/** Takes a token, if there is a whole one. @param before undefined: a full bucket. @param now epoch milliseconds. */
export function takeToken(before: Bucket | undefined, quota: Quota, now: number): Taking {
  const there = tokensAt(before, quota, now);
  const taken = there >= 1;
  const tokens = taken ? there - 1 : there;
  const perToken = quota.windowMs / quota.count;
  return {
    // Of a clock that went back: what came back until `before.at` has been counted.
    bucket: { tokens, at: Math.max(now, before?.at ?? now) },
    taken,
    remaining: Math.floor(tokens),
    fullInMs: (quota.count - tokens) * perToken,
    nextInMs: tokens >= 1 ? 0 : (1 - tokens) * perToken,
  };
}

/** How many tokens a bucket holds. A clock that goes back gives nothing and takes nothing away. */
export function tokensAt(before: Bucket | undefined, { count, windowMs }: Quota, now: number): number {
  if (before === undefined) return count;
  return Math.min(count, before.tokens + (Math.max(0, now - before.at) * count) / windowMs);
}
