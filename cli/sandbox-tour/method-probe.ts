import type { CallObservation } from '#cli/sandbox-tour/observations.ts';
import { serviceAddress } from '#domain/service/service-address.ts';
import { createHttpTransport, type HttpTransport } from '#upstream/client/http.ts';
import { ENDPOINTS } from '#upstream/contract.ts';
import type { Service } from '#upstream/service.ts';

/**
 * Can the webhook secret be made by a call? To make one would take away the secret that webhooks are signed with, so
 * its address is asked with a method that it does not take: one that exists says 405. Whether the service tells such
 * an address from one that does not exist, an address that certainly exists shows.
 *
 * @param baseUrl `{base_url}` of the service.
 * @param deadlineMs of each of at most two reads, in milliseconds.
 */
export async function observeWebhookSecret(
  baseUrl: string,
  session: Service['session'],
  deadlineMs: number,
): Promise<CallObservation> {
  const held = await session.token(deadlineMs);
  if (!held.ok) return { kind: 'broken', detail: 'there is no token' };
  const { origin, pathname } = new URL(serviceAddress(baseUrl, 'sandbox'));
  const transport = createHttpTransport({ origin });
  const get = async (path: string): Promise<number | undefined> =>
    await statusOf(transport, `${pathname}${path}`, held.token.accessToken, deadlineMs);
  try {
    const status = await get(ENDPOINTS.createWebhookSecret.path);
    if (status === 405)
      return { kind: 'works', detail: 'its address takes another method than GET; no secret was made' };
    if (status !== 404) return { kind: 'unclear', detail: `a GET of it came to ${status ?? 'no answer'}` };
    const known = await get(ENDPOINTS.createVpnOrder.path);
    if (known === 405)
      return { kind: 'missing', detail: 'a GET of it came to 404, where one of a known address comes to 405' };
    return { kind: 'unclear', detail: 'a GET of it came to 404, as that of a known address does' };
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
