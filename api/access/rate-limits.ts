import { networkOf } from '#api/http/network-address.ts';
import { Problem } from '#api/problems/problem.ts';
import { BURST_MS, FAILURE_WINDOW_MS, KNOWN_KEY_MS } from '#domain/policy/api-policy.ts';
import { quotaPerMinute, takeToken, tokensAt, type Bucket, type Quota } from '#domain/token-bucket.ts';

/**
 * What is kept in memory, whoever calls: far more than there are keys; strangers can fill it with addresses only
 * slowly.
 */
const MAX_ENTRIES = 10_000;

export interface RateLimitSettings {
  /** Requests a minute of each key that has no limit of its own; undefined: not limited. */
  readonly perMinute: number | undefined;
  /** Failed authentications a minute from one address. */
  readonly failuresPerMinute: number;
}

/** What a key's use of its limit looks like in an answer, after draft-ietf-httpapi-ratelimit-headers-10. */
export interface RateLimitState {
  readonly headers: Readonly<Record<string, string>>;
  /** What is answered instead; undefined while the limit is kept. */
  readonly refusal: Problem | undefined;
}

/**
 * The limits of one API process: how fast each key may ask, and how often an address may fail to authenticate. Kept in
 * memory; docs/adr/0012-rate-limits.md says why.
 */
export class RateLimits {
  readonly #settings: RateLimitSettings;
  readonly #now: () => number;
  readonly #keys = new RecentMap<Bucket>();
  readonly #failures = new RecentMap<Bucket>();
  /** When a key of this prefix last was valid. */
  readonly #known = new RecentMap<number>();

  /** @param now epoch milliseconds. */
  constructor(settings: RateLimitSettings, now: () => number) {
    this.#settings = settings;
    this.#now = now;
  }

  /**
   * Counts a request. @param own the key's own limit, requests a minute. @returns undefined where nothing limits it.
   */
  use(lineageId: string, own: number | null): RateLimitState | undefined {
    const perMinute = own ?? this.#settings.perMinute;
    if (perMinute === undefined) return undefined;
    const quota = quotaPerMinute(perMinute, BURST_MS);
    const { bucket, taken, remaining, fullInMs, nextInMs } = takeToken(this.#keys.get(lineageId), quota, this.#now());
    this.#keys.set(lineageId, bucket);
    return {
      headers: {
        'RateLimit-Policy': `"key";q=${quota.count};w=${seconds(quota.windowMs)}`,
        RateLimit: `"key";r=${remaining};t=${seconds(fullInMs)}`,
      },
      refusal: taken ? undefined : rateLimited(`This API key may make ${perMinute} requests a minute.`, nextInMs),
    };
  }

  /**
   * Keeps an address that has failed too often from having more keys looked up; a key that was valid here of late is
   * looked up all the same, so that a neighbour behind the same address is not locked out.
   *
   * @throws Problem rate_limited
   */
  requireTrust(address: string, prefix: string | undefined): void {
    if (!this.#isExhausted(address)) return;
    const valid = prefix === undefined ? undefined : this.#known.get(prefix);
    if (valid === undefined || this.#now() - valid > KNOWN_KEY_MS) throw this.#tooManyFailures();
  }

  /** Notes that a key with this prefix is valid. */
  noteValid(prefix: string): void {
    this.#known.set(prefix, this.#now());
  }

  /**
   * Notes a failed authentication. @returns what is answered instead of 401 where there were too many; and whether this
   * was the first such.
   */
  noteFailure(address: string): { readonly refusal: Problem | undefined; readonly exhausted: boolean } {
    const place = networkOf(address);
    const { bucket, taken, remaining } = takeToken(this.#failures.get(place), this.#failureQuota(), this.#now());
    this.#failures.set(place, bucket);
    return { refusal: taken ? undefined : this.#tooManyFailures(), exhausted: taken && remaining === 0 };
  }

  #isExhausted(address: string): boolean {
    const bucket = this.#failures.get(networkOf(address));
    return bucket !== undefined && tokensAt(bucket, this.#failureQuota(), this.#now()) < 1;
  }

  #failureQuota(): Quota {
    return quotaPerMinute(this.#settings.failuresPerMinute, FAILURE_WINDOW_MS);
  }

  #tooManyFailures(): Problem {
    const { count, windowMs } = this.#failureQuota();
    return rateLimited('Too many requests without a valid API key came from this address.', windowMs / count);
  }
}

function rateLimited(detail: string, waitMs: number): Problem {
  return new Problem('rate_limited', { detail, headers: { 'Retry-After': String(Math.max(1, seconds(waitMs))) } });
}

function seconds(ms: number): number {
  return Math.ceil(ms / 1_000);
}

/** Forgets what was used longest ago, so that it never grows beyond its bound. */
class RecentMap<Value> {
  readonly #entries = new Map<string, Value>();

  get(key: string): Value | undefined {
    return this.#entries.get(key);
  }

  set(key: string, value: Value): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= MAX_ENTRIES) return;
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined) this.#entries.delete(oldest);
  }
}
