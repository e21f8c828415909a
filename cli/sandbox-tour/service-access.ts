import type { CallObservation } from '#cli/sandbox-tour/observations.ts';
import type { ServiceConfig } from '#config/config.ts';
import { serviceAddress } from '#domain/service/service-address.ts';
import type { ServiceClient } from '#upstream/client.ts';
import { type HttpTransport, createHttpTransport } from '#upstream/client/http.ts';
import { ENDPOINTS } from '#upstream/contract.ts';
import type { Service } from '#upstream/service.ts';

const LONGEST_WAIT_MS = 120_000;
const USUAL_WAIT_MS = 5_000;
const MOST_TRIES = 5;

/** A 429 is a definite failure, so the same bytes and key may be sent again after a wait. */
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

/**
 * A created secret would replace the one that signs webhooks. An existing address answers a GET with 405. After a 404,
 * an address that certainly exists shows whether this service answers 405 at all.
 */
export async function observeWebhookSecret(
  { baseUrl, proxy }: Pick<ServiceConfig, 'baseUrl' | 'proxy'>,
  session: Service['session'],
  deadlineMs: number,
): Promise<CallObservation> {
  const held = await session.token(deadlineMs);
  if (!held.ok) return { kind: 'broken', detail: 'there is no token' };
  const { origin, pathname } = new URL(serviceAddress(baseUrl, 'sandbox'));
  const transport = createHttpTransport({ origin, proxy });
  const get = async (path: string): Promise<number | undefined> =>
    await statusOf(transport, `${pathname}${path}`, held.token.accessToken, deadlineMs);
  try {
    const status = await get(ENDPOINTS.createWebhookSecret.path);
    if (status === 405)
      return { kind: 'works', detail: 'its address supports another method than GET; no secret was created' };
    if (status !== 404) return { kind: 'unclear', detail: `a GET of it returned ${status ?? 'no answer'}` };
    const known = await get(ENDPOINTS.createVpnOrder.path);
    if (known === 405) return { kind: 'missing', detail: 'a GET of it returned 404, and a GET of a known address 405' };
    return { kind: 'unclear', detail: 'a GET of it returned 404, as does a GET of a known address' };
  } finally {
    await transport.close();
  }
}

async function statusOf(
  transport: HttpTransport,
  path: string,
  token: string,
  deadlineMs: number,
): Promise<number | undefined> {
  const headers = {
    accept: 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'reseller-fulfilment',
    authorization: `Bearer ${token}`,
  };
  const result = await transport.send({ method: 'GET', path, headers, deadlineMs });
  return result.kind === 'answer' ? result.answer.status : undefined;
}
