import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { Simulation } from '#simulator/simulation.ts';

export const rateLimit = z.strictObject({
  requests: z.int().min(1).max(1_000_000).nullable(),
  window_ms: z.int().min(1).max(86_400_000).default(60_000),
});
export type RateLimit = z.output<typeof rateLimit>;

const SETTING = 'rate_limit';

/** Fixed windows by the simulator's clock, one for each token. Lost when the process ends. */
export class RateLimiter {
  readonly #simulation: Simulation;
  #window = 0;
  #counts = new Map<string, number>();

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
  }

  get limit(): RateLimit {
    const { store, options } = this.#simulation;
    const configured = { requests: options.rateLimit ?? null, window_ms: options.rateWindowMs };
    return store.setting(SETTING, rateLimit) ?? configured;
  }

  choose(limit: RateLimit): void {
    this.#simulation.store.set(SETTING, limit);
    this.restart();
  }

  restart(): void {
    this.#window = 0;
    this.#counts.clear();
  }

  /** @param caller the Authorization header, or an address; only its hash is stored. */
  take(caller: string): { readonly allowed: boolean; readonly headers: Readonly<Record<string, string>> } {
    const { requests, window_ms: windowMs } = this.limit;
    if (requests === null) return { allowed: true, headers: {} };
    const now = this.#simulation.clock.now();
    const window = Math.floor(now / windowMs);
    if (window !== this.#window) {
      this.restart();
      this.#window = window;
    }
    const key = createHash('sha256').update(caller).digest('base64');
    const used = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, used);
    const resetSeconds = Math.max(1, Math.ceil(((window + 1) * windowMs - now) / 1_000));
    const allowed = used <= requests;
    // IETF draft "RateLimit header fields for HTTP".
    const headers = {
      'RateLimit-Policy': `"token";q=${requests};w=${Math.ceil(windowMs / 1_000)}`,
      RateLimit: `"token";r=${Math.max(0, requests - used)};t=${resetSeconds}`,
      ...(allowed ? {} : { 'Retry-After': String(resetSeconds) }),
    };
    return { allowed, headers };
  }
}
