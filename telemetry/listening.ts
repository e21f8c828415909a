import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

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
