/** Checks of the URL of an endpoint, at its creation and at every try. */
import type { AddressPolicy, AddressVerdict } from '#outbound/address-policy.ts';
import type { HostLookup } from '#outbound/host-lookup.ts';

const MAX_URL_LENGTH = 2_048;
const HTTPS_PORT = 443;
const HTTP_PORT = 80;
/** Lower ports belong to system services, which are no receivers of webhooks. */
const FIRST_FREE_PORT = 1_024;

/** @returns the problem of a URL, as the end of a sentence; undefined when there is none. */
export function urlProblem(text: string): string | undefined {
  if (text.length > MAX_URL_LENGTH) return `must have at most ${MAX_URL_LENGTH} characters`;
  if (!URL.canParse(text)) return 'must be an absolute URL';
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must begin with https://';
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or a password';
  if (url.hash !== '') return 'must not have a fragment';
  const port = portOf(url);
  if (port !== HTTPS_PORT && port !== HTTP_PORT && port < FIRST_FREE_PORT)
    return `must have port ${HTTPS_PORT}, ${HTTP_PORT}, or one from ${FIRST_FREE_PORT} on`;
  return undefined;
}

/**
 * Plain HTTP is permitted only for addresses of the configuration: otherwise others could read the events in transit.
 */
export function mayConnect(protocol: string, verdict: AddressVerdict): boolean {
  return protocol === 'https:' ? verdict !== 'refused' : verdict === 'allowed';
}

/**
 * Checks a URL with the addresses that its host has now. An unknown host is accepted: it is looked up and judged at
 * every try.
 *
 * @returns the problem, as the end of a sentence; undefined when there is none.
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
    ? 'must lead to a public address: its host is in a private or reserved network ' +
        'that WEBHOOK_ALLOWED_ADDRESSES does not name'
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
