import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** `public`: on the Internet. `allowed`: listed in the configuration. `refused`: all others. */
export type AddressVerdict = 'public' | 'allowed' | 'refused';

/**
 * Decides which addresses webhooks may be sent to, against server-side request forgery. Only addresses that the IANA
 * registries show as public are accepted, so that unknown special ranges are refused. An IPv4-mapped IPv6 address is
 * judged as its IPv4 address; other encodings of one (NAT64, 6to4, Teredo) are refused.
 */
export class AddressPolicy {
  readonly #allowed: readonly Subnet[];

  /**
   * @param allowed addresses and networks such as `10.20.0.0/16` that are accepted although they are not public.
   * @throws Error for an invalid address or network.
   */
  constructor(allowed: readonly string[] = []) {
    this.#allowed = allowed.map((text) =>
      ipaddr.parseCIDR(text.includes('/') ? text : `${text}/${text.includes(':') ? 128 : 32}`),
    );
  }

  /** Judges an address. An invalid one is refused. */
  judge(text: string): AddressVerdict {
    // Accept the usual form only: parsers disagree about `010.0.0.1`, and a zone names an interface of this machine.
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

/** False for a network of the other family. */
function contains([network, bits]: Subnet, address: Address): boolean {
  if (network.kind() === 'ipv4')
    return address.kind() === 'ipv4' && ipaddr.IPv4.prototype.match.call(address, network, bits);
  return address.kind() === 'ipv6' && ipaddr.IPv6.prototype.match.call(address, network, bits);
}
