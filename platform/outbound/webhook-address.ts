/** URLs are checked at the creation of an endpoint and at every try. */
import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { hostOf } from '#domain/text.ts';

const MAX_URL_LENGTH = 2_048;
const HTTPS_PORT = 443;
const HTTP_PORT = 80;
/** Lower ports belong to system services. */
const FIRST_FREE_PORT = 1_024;

/** The end of a sentence; undefined when there is no problem. */
export function urlProblem(text: string): string | undefined {
  if (text.length > MAX_URL_LENGTH) return `must have at most ${MAX_URL_LENGTH} characters`;
  if (!URL.canParse(text)) return 'must be an absolute URL';
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must begin with https://';
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or a password';
  if (url.hash !== '') return 'must not have a fragment';
  const port = Number(url.port || (url.protocol === 'https:' ? HTTPS_PORT : HTTP_PORT));
  if (port !== HTTPS_PORT && port !== HTTP_PORT && port < FIRST_FREE_PORT)
    return `must have port ${HTTPS_PORT}, ${HTTP_PORT}, or one from ${FIRST_FREE_PORT} on`;
  return undefined;
}

/** Plain HTTP is permitted only for configured addresses: otherwise others could read the events in transit. */
export function mayConnect(protocol: string, verdict: AddressVerdict): boolean {
  return protocol === 'https:' ? verdict !== 'refused' : verdict === 'allowed';
}

/** An unknown host is accepted: it is judged at every try. @returns the end of a sentence; undefined: no problem. */
export async function endpointUrlProblem(text: string, policy: AddressPolicy, lookup: HostLookup) {
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

/** `allowed`: listed in the configuration. */
type AddressVerdict = 'public' | 'allowed' | 'refused';

/**
 * Against server-side request forgery: only addresses that the IANA registries show as public are accepted. An
 * IPv4-mapped IPv6 address is judged as IPv4; NAT64, 6to4 and Teredo are refused.
 */
export class AddressPolicy {
  readonly #allowed: readonly Subnet[];

  /** @param allowed accepted although they are not public. @throws Error for an invalid address or network. */
  constructor(allowed: readonly string[] = []) {
    this.#allowed = allowed.map((text) =>
      ipaddr.parseCIDR(text.includes('/') ? text : `${text}/${text.includes(':') ? 128 : 32}`),
    );
  }

  /** An invalid address is refused. */
  judge(text: string): AddressVerdict {
    // Parsers disagree about `010.0.0.1`, and a zone names an interface of this machine.
    if (isIP(text) === 0 || text.includes('%')) return 'refused';
    const address = ipaddr.process(text);
    if (this.#allowed.some((subnet) => contains(subnet, address))) return 'allowed';
    return isPublic(address) ? 'public' : 'refused';
  }
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Subnet = [Address, number];

/** IANA allocates public IPv6 addresses from this range only. */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3');
/** Azure's metadata address is in a public range, but only Azure's machines can reach it. */
const PUBLIC_LOOKING = [ipaddr.parseCIDR('168.63.129.16/32')];

function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false;
  if (address.kind() === 'ipv6' && !contains(GLOBAL_UNICAST, address)) return false;
  return !PUBLIC_LOOKING.some((subnet) => contains(subnet, address));
}

/** False for the other family. */
function contains([network, bits]: Subnet, address: Address): boolean {
  if (network.kind() === 'ipv4')
    return address.kind() === 'ipv4' && ipaddr.IPv4.prototype.match.call(address, network, bits);
  return address.kind() === 'ipv6' && ipaddr.IPv6.prototype.match.call(address, network, bits);
}

/** @throws Error when the name has no address, or the lookup fails. */
export type HostLookup = (host: string) => Promise<readonly string[]>;

/** DNS only. The system's lookup also reads files, and a slow name server would block one of the few threads. */
export function dnsLookup(): HostLookup {
  const resolver = new Resolver({ timeout: 3_000, tries: 2 });
  return async (host) => {
    if (isIP(host) !== 0) return [host];
    // RFC 6761: these names must not be sent to DNS.
    if (/(?:^|\.)localhost\.?$/i.test(host)) return ['127.0.0.1', '::1'];
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const found = [v4, v6].flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
    if (found.length > 0) return found;
    throw v4.status === 'rejected' ? v4.reason : new Error('the name has no address');
  };
}
