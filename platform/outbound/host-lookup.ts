import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';

/** Finds the addresses of a host name. @throws Error when it has none, or the lookup fails. */
export type HostLookup = (host: string) => Promise<readonly string[]>;

const TIMEOUT_MS = 3_000;
const TRIES = 2;

/**
 * Looks names up in DNS only. The system's lookup also reads files of this machine, and a slow name server would block
 * one of the few threads of the process.
 */
export function dnsLookup(): HostLookup {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
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
