import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';

/** Finds the addresses of a host name. @throws Error when it has none, or cannot be asked. */
export type HostLookup = (host: string) => Promise<readonly string[]>;

const TIMEOUT_MS = 3_000;
const TRIES = 2;

/**
 * Asks DNS, and nothing else: the system's own lookup also reads files of this machine, and takes one of the few
 * threads that everything in the process shares for as long as a slow name server likes.
 */
export function dnsLookup(): HostLookup {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
  return async (host) => {
    if (isIP(host) !== 0) return [host];
    // Not asked of DNS (RFC 6761).
    if (host === 'localhost' || host.endsWith('.localhost')) return ['127.0.0.1', '::1'];
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const found = [v4, v6].flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
    if (found.length > 0) return found;
    throw v4.status === 'rejected' ? v4.reason : new Error('the name has no address');
  };
}
