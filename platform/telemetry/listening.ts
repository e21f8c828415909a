import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Time limits for the arrival of a request, in milliseconds. The connection of a slower one is closed. */
export const SLOW_REQUESTS = {
  /** Headers fit into one packet. */
  headersTimeout: 10_000,
  /** A whole request: far above the time of a body at the limit on a mobile connection. */
  requestTimeout: 30_000,
  /** How often the two are checked; the default of 30 s would make them meaningless. */
  connectionsCheckingInterval: 2_000,
} as const;

/**
 * Starts listening.
 *
 * @param address.port 0 lets the system choose.
 * @returns the port. @throws Error with code EADDRINUSE or EACCES when the port cannot be taken.
 */
export async function listen(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return (server.address() as AddressInfo).port;
}

/**
 * Stops listening and waits until all connections are closed.
 *
 * @param connections connections to close at once: `idle` ones, so that running requests are answered, or `all`.
 */
export async function close(server: Server, connections: 'idle' | 'all'): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    if (connections === 'all') server.closeAllConnections();
    else server.closeIdleConnections();
  });
}
