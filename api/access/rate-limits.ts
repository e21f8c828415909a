import { networkOf } from '#api/http/network-address.ts';
import { Problem } from '#api/problems/problem.ts';
import { BURST_MS, FAILURE_WINDOW_MS, KNOWN_KEY_MS, SHARE_LINK_BURST_MS } from '#domain/policy/api-policy.ts';
import { counted } from '#domain/text.ts';
import { quotaPerMinute, takeToken, tokensAt, type Bucket, type Quota } from '#domain/token-bucket.ts';

/**
 * Maximum number of entries in memory: far more than there are keys. Callers without a key can add addresses only
 * slowly.
 */
const MAX_ENTRIES = 10_000;

export interface RateLimitSettings {
  /** Requests a minute of each key without its own limit; undefined: not limited. */
  readonly perMinute: number | undefined;
  /** Failed authentications a minute from one address. */
  readonly failuresPerMinute: number;
  /** Pages of share links a minute for one address. */
  readonly sharePagesPerMinute: number;
}

/** State of a key's limit in an answer, by draft-ietf-httpapi-ratelimit-headers-10. */
export interface RateLimitState {
  readonly headers: Readonly<Record<string, string>>;
  /** The answer when the limit is exceeded; undefined otherwise. */
  readonly refusal: Problem | undefined;
}

/**
 * The limits of one API process: requests of each key, failed authentications and visits of each address. They are in
 * memory; docs/adr/0015-callers-wait-on-one-event-tail.md explains why.
 */
export class RateLimits {
  readonly #settings: RateLimitSettings;
  readonly #now: () => number;
  readonly #keys = new RecentMap<Bucket>();
  readonly #failures = new RecentMap<Bucket>();
  readonly #visits = new RecentMap<Bucket>();
  /** Time of the last valid use of a key prefix. */
  readonly #known = new RecentMap<number>();

  /** @param now epoch milliseconds. */
  constructor(settings: RateLimitSettings, now: () => number) {
    this.#settings = settings;
    this.#now = now;
  }

  /**
   * Counts a request. @param own the key's own limit, requests a minute. @returns undefined without a limit.
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
      refusal: taken
        ? undefined
        : rateLimited(`This API key may make ${counted(perMinute, 'request')} a minute.`, nextInMs),
    };
  }

  /** Counts a visit of a page by a person without a key. @returns the answer when the limit is exceeded. */
  visit(address: string): Problem | undefined {
    const place = networkOf(address);
    const quota = quotaPerMinute(this.#settings.sharePagesPerMinute, SHARE_LINK_BURST_MS);
    const { bucket, taken, nextInMs } = takeToken(this.#visits.get(place), quota, this.#now());
    this.#visits.set(place, bucket);
    return taken ? undefined : rateLimited('This address opened too many pages.', nextInMs);
  }

  /**
   * Refuses the lookup of more keys for an address with too many failures. A key that was valid recently is
   * still looked up, so that others behind the same address are not locked out.
   *
   * @throws Problem rate_limited
   */
  requireTrust(address: string, prefix: string | undefined): void {
    if (!this.#isExhausted(address)) return;
    const valid = prefix === undefined ? undefined : this.#known.get(prefix);
    if (valid === undefined || this.#now() - valid > KNOWN_KEY_MS) throw this.#tooManyFailures();
  }

  /** Records that a key with this prefix is valid. */
  noteValid(prefix: string): void {
    this.#known.set(prefix, this.#now());
  }

  /**
   * Records a failed authentication. @returns the answer instead of 401 after too many failures, and whether this
   * was the first one above the limit.
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
    return rateLimited('This address sent too many requests without a valid API key.', windowMs / count);
  }
}

function rateLimited(detail: string, waitMs: number): Problem {
  return new Problem('rate_limited', { detail, headers: { 'Retry-After': String(Math.max(1, seconds(waitMs))) } });
}

function seconds(ms: number): number {
  return Math.ceil(ms / 1_000);
}

/** A bounded map: removes the least recently used entry. */
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
