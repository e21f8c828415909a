import ipaddr from 'ipaddr.js';

/** What counts for limits where `X-Forwarded-For` holds no address: all of that together. */
const NOT_AN_ADDRESS = 'other';

const DECIMAL = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/;

/**
 * The network that limits are counted for: an IPv4 address, or the /64 of an IPv6 address, since a household or server
 * has all of it. All spellings of an address come to the same: IPv4 inside IPv6, zones, letters, zeros, and the port
 * that some proxies add.
 *
 * @param address as the connection or a trusted proxy tells it.
 */
export function networkOf(address: string): string {
  const plain = withoutPort(address.trim());
  const octets = DECIMAL.exec(plain)?.slice(1).map(Number);
  // Not left to the library, which reads a leading zero as octal.
  if (octets !== undefined) return octets.every((octet) => octet <= 255) ? octets.join('.') : NOT_AN_ADDRESS;
  if (!ipaddr.IPv6.isValid(plain)) return NOT_AN_ADDRESS;
  const parsed = ipaddr.IPv6.parse(plain);
  if (parsed.isIPv4MappedAddress()) return parsed.toIPv4Address().toString();
  return parsed.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':');
}

function withoutPort(address: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(address)?.[1];
  return bracketed ?? address.replace(/^(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}$/, '$1');
}
