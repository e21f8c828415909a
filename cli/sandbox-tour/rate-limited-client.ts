import type { ServiceClient } from '#upstream/client.ts';

const LONGEST_WAIT_MS = 120_000;
const USUAL_WAIT_MS = 5_000;
const MOST_TRIES = 5;

/**
 * A client that waits and repeats a call after a 429. A 429 is a definite failure, so the same bytes and key may be
 * sent again.
 */
export function rateLimitedClient(client: ServiceClient, delay: (ms: number) => Promise<unknown>): ServiceClient {
  return new Proxy(client, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== 'function') return method;
      return async (...args: unknown[]) => {
        for (let tries = 1; ; tries += 1) {
          const result: unknown = await Reflect.apply(method, target, args);
          const waitMs = waitAskedFor(result);
          if (waitMs === undefined || tries === MOST_TRIES) return result;
          await delay(waitMs);
        }
      };
    },
  });
}

function waitAskedFor(result: unknown): number | undefined {
  if (typeof result !== 'object' || result === null) return undefined;
  if (!('failure' in result) || result.failure !== 'rate_limited') return undefined;
  const asked =
    'retryAfterMs' in result && typeof result.retryAfterMs === 'number' ? result.retryAfterMs : USUAL_WAIT_MS;
  return Math.min(asked, LONGEST_WAIT_MS);
}
