import ipaddr from 'ipaddr.js';

/** Common key of all values of `X-Forwarded-For` that are not addresses. */
const NOT_AN_ADDRESS = 'other';

const DECIMAL = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/;

/**
 * The network to which limits apply: an IPv4 address, or the /64 network of an IPv6 address, because one
 * household or server has a whole /64. All spellings of an address give the same result: IPv4 inside IPv6, zones, upper
 * case, leading zeros, and the port that some proxies add.
 *
 * @param address text from the connection or a trusted proxy.
 * @returns an address without a prefix length, or `other` for text that is not an address.
 */
export function networkOf(address: string): string {
  const plain = withoutPort(address.trim());
  const octets = DECIMAL.exec(plain)?.slice(1).map(Number);
  // Not parsed by the library: it reads a leading zero as octal.
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
