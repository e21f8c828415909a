/** Which addresses an endpoint may have: judged when it is made, and again at every try. */
import type { AddressPolicy, AddressVerdict } from '#outbound/address-policy.ts';
import type { HostLookup } from '#outbound/host-lookup.ts';

const MAX_URL_LENGTH = 2_048;
const HTTPS_PORT = 443;
const HTTP_PORT = 80;
/** Below this live the classic services, which are no receivers of webhooks. */
const FIRST_FREE_PORT = 1_024;

/** @returns what is wrong with the text of a URL, as the end of a sentence; undefined when nothing is. */
export function urlProblem(text: string): string | undefined {
  if (text.length > MAX_URL_LENGTH) return `must have at most ${MAX_URL_LENGTH} characters`;
  if (!URL.canParse(text)) return 'must be an absolute URL';
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must begin with https://';
  if (url.username !== '' || url.password !== '') return 'must not hold a user name or a password';
  if (url.hash !== '') return 'must not have a fragment';
  const port = portOf(url);
  if (port !== HTTPS_PORT && port !== HTTP_PORT && port < FIRST_FREE_PORT)
    return `must have port ${HTTPS_PORT}, ${HTTP_PORT}, or one from ${FIRST_FREE_PORT} on`;
  return undefined;
}

/**
 * Plain HTTP is for receivers that the configuration names; everybody else's events would travel open to all on the
 * way.
 */
export function mayConnect(protocol: string, verdict: AddressVerdict): boolean {
  return protocol === 'https:' ? verdict !== 'refused' : verdict === 'allowed';
}

/**
 * Judges a URL with what its host means at this moment. A host that is not known yet is let through: it is looked up,
 * and judged, at every try.
 *
 * @returns what is wrong, as the end of a sentence; undefined when nothing is.
 */
export async function endpointUrlProblem(
  text: string,
  policy: AddressPolicy,
  lookup: HostLookup,
): Promise<string | undefined> {
  const problem = urlProblem(text);
  if (problem !== undefined) return problem;
  const url = new URL(text);
  const addresses = await lookup(hostOf(url)).catch(() => []);
  if (url.protocol === 'http:' && addresses.length === 0) return 'must begin with https://';
  const refused = addresses.filter((address) => !mayConnect(url.protocol, policy.judge(address)));
  if (refused.length === 0) return undefined;
  return refused.some((address) => policy.judge(address) === 'refused')
    ? 'must lead to a public address: its host is in a private or reserved network that WEBHOOK_ALLOWED_ADDRESSES does not name'
    : 'must begin with https://';
}

/** Without the brackets of an IPv6 address. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1');
}

function portOf({ port, protocol }: URL): number {
  if (port !== '') return Number(port);
  return protocol === 'https:' ? HTTPS_PORT : HTTP_PORT;
}
