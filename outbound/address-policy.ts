import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** `public`: on the Internet. `allowed`: named by the configuration. `refused`: everything else. */
export type AddressVerdict = 'public' | 'allowed' | 'refused';

/**
 * Which addresses webhooks may be sent to (server-side request forgery). What an address is comes from the registries
 * of special ranges: only what is plainly public is let through, so that a range that nobody thought of is refused. An
 * IPv4 address in the form of IPv6 is judged as what it is; other ways to carry one (NAT64, 6to4, Teredo) are refused.
 */
export class AddressPolicy {
  readonly #allowed: readonly Subnet[];

  /**
   * @param allowed addresses and networks such as `10.20.0.0/16` that may be reached although they are not public.
   *   @throws Error for what is none.
   */
  constructor(allowed: readonly string[] = []) {
    this.#allowed = allowed.map((text) =>
      ipaddr.parseCIDR(text.includes('/') ? text : `${text}/${text.includes(':') ? 128 : 32}`),
    );
  }

  /** Judges an address; what is none is refused. */
  judge(text: string): AddressVerdict {
    // Only the usual form: `010.0.0.1` is read one way here and another way there. A zone names an interface of this
    // machine.
    if (isIP(text) === 0 || text.includes('%')) return 'refused';
    const address = ipaddr.process(text);
    if (this.#allowed.some((subnet) => contains(subnet, address))) return 'allowed';
    return isPublic(address) ? 'public' : 'refused';
  }
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Subnet = [Address, number];

/** IANA gives out public IPv6 addresses from this range alone. */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3');
/** Azure's metadata and control address, which looks public and is reachable from its machines only. */
const PUBLIC_LOOKING = [ipaddr.parseCIDR('168.63.129.16/32')];

function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false;
  if (address.kind() === 'ipv6' && !contains(GLOBAL_UNICAST, address)) return false;
  return !PUBLIC_LOOKING.some((subnet) => contains(subnet, address));
}

/** Networks of the other family never contain it. */
function contains([network, bits]: Subnet, address: Address): boolean {
  if (network.kind() === 'ipv4')
    return address.kind() === 'ipv4' && ipaddr.IPv4.prototype.match.call(address, network, bits);
  return address.kind() === 'ipv6' && ipaddr.IPv6.prototype.match.call(address, network, bits);
}
