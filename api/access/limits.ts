import ipaddr from 'ipaddr.js';
import type { ApiDependencies } from '#api/dependencies.ts';
import { Problem } from '#api/problems/problem.ts';
import { BURST_MS, FAILURE_WINDOW_MS, KNOWN_KEY_MS, SHARE_LINK_BURST_MS } from '#domain/policy/api-policy.ts';
import { counted } from '#domain/text.ts';
import { type Bucket, type Quota, quotaPerMinute, takeToken, tokensAt } from '#domain/token-bucket.ts';

/** Far more than there are keys. Callers without a key can add addresses only slowly. */
const MAX_ENTRIES = 10_000;

/** In memory: docs/adr/0015-callers-wait-on-one-event-tail.md explains why. */
export class RateLimits {
  readonly #settings: ApiDependencies['rateLimits'];
  readonly #now: () => number;
  readonly #keys = new RecentMap<Bucket>();
  readonly #failures = new RecentMap<Bucket>();
  readonly #visits = new RecentMap<Bucket>();
  readonly #known = new RecentMap<number>();

  /** @param now epoch milliseconds. */
  constructor(settings: ApiDependencies['rateLimits'], now: () => number) {
    this.#settings = settings;
    this.#now = now;
  }

  /**
   * With the headers of draft-ietf-httpapi-ratelimit-headers-10.
   * @param own the key's own limit, requests a minute. @returns undefined without a limit.
   */
  use(lineageId: string, own: number | null) {
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

  visit(address: string): Problem | undefined {
    const place = networkOf(address);
    const quota = quotaPerMinute(this.#settings.sharePagesPerMinute, SHARE_LINK_BURST_MS);
    const { bucket, taken, nextInMs } = takeToken(this.#visits.get(place), quota, this.#now());
    this.#visits.set(place, bucket);
    return taken ? undefined : rateLimited('This address opened too many pages.', nextInMs);
  }

  /**
   * Refuses the lookup of more keys for an address with too many failures. A key that was valid recently is still
   * looked up, so that others behind the same address are not locked out.
   * @throws Problem rate_limited
   */
  requireTrust(address: string, prefix: string | undefined): void {
    if (tokensAt(this.#failures.get(networkOf(address)), this.#failureQuota(), this.#now()) >= 1) return;
    const valid = prefix === undefined ? undefined : this.#known.get(prefix);
    if (valid === undefined || this.#now() - valid > KNOWN_KEY_MS) throw this.#tooManyFailures();
  }

  noteValid(prefix: string): void {
    this.#known.set(prefix, this.#now());
  }

  /** After too many failures the answer replaces 401. `exhausted`: this was the first failure above the limit. */
  noteFailure(address: string): { readonly refusal: Problem | undefined; readonly exhausted: boolean } {
    const place = networkOf(address);
    const { bucket, taken, remaining } = takeToken(this.#failures.get(place), this.#failureQuota(), this.#now());
    this.#failures.set(place, bucket);
    return { refusal: taken ? undefined : this.#tooManyFailures(), exhausted: taken && remaining === 0 };
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

/** Removes the least recently used entry. */
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

/** What is under way: in total, and of each sender, which is a lineage of API keys or an address. */
export class InFlight {
  readonly #of = new Map<string, number>();
  readonly #onChange: (total: number) => void;
  #total = 0;

  constructor(onChange: (total: number) => void = () => undefined) {
    this.#onChange = onChange;
  }

  /**
   * Nothing may happen between the look and the count.
   * @returns ends the count, once; undefined: there is no room.
   */
  enter(
    sender: string,
    { total = Infinity, perSender }: { readonly total?: number; readonly perSender: number },
    size = 1,
  ): (() => void) | undefined {
    if (this.#total + size > total || (this.#of.get(sender) ?? 0) + size > perSender) return undefined;
    this.#count(sender, size);
    let isOpen = true;
    return () => {
      if (isOpen) this.#count(sender, -size);
      isOpen = false;
    };
  }

  #count(sender: string, change: number): void {
    const left = (this.#of.get(sender) ?? 0) + change;
    if (left === 0) this.#of.delete(sender);
    else this.#of.set(sender, left);
    this.#total += change;
    this.#onChange(this.#total);
  }
}

const NOT_AN_ADDRESS = 'other';

const DECIMAL = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/;

/**
 * The network to which limits apply: an IPv4 address, or the /64 network of an IPv6 address, because one household or
 * server has a whole /64. All spellings of an address give the same result.
 */
export function networkOf(address: string): string {
  const plain = withoutPort(address.trim());
  const octets = DECIMAL.exec(plain)?.slice(1).map(Number);
  // The library reads a leading zero as octal.
  if (octets !== undefined) return octets.every((octet) => octet <= 255) ? octets.join('.') : NOT_AN_ADDRESS;
  if (!ipaddr.IPv6.isValid(plain)) return NOT_AN_ADDRESS;
  const parsed = ipaddr.IPv6.parse(plain);
  if (parsed.isIPv4MappedAddress()) return parsed.toIPv4Address().toString();
  return ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toRFC5952String()}/64`).toString();
}

function withoutPort(address: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(address)?.[1];
  return bracketed ?? address.replace(/^(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}$/, '$1');
}
