import { createServer, type RequestListener } from 'node:http';
import { listen, SLOW_REQUESTS } from '#telemetry/http-server.ts';

/**
 * Longer than the idle time of usual load balancers (60 s), so that they close first and never send into a closing
 * connection.
 */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
/** Above the timeouts of the database, below the 30 s of Kubernetes. */
export const DRAIN_MS = 22_000;

/** @param address.port 0 lets the system choose. @throws Error with code EADDRINUSE or EACCES */
export async function startServer(
  listener: RequestListener,
  address: { readonly host: string; readonly port: number },
  drainMs: number = DRAIN_MS,
  slowRequests: Readonly<Record<keyof typeof SLOW_REQUESTS, number>> = SLOW_REQUESTS,
) {
  const server = createServer({ ...slowRequests, keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS }, listener);
  let isStopping = false;
  // `server.close` only closes idle connections.
  server.prependListener('request', (_request, response) => {
    if (isStopping) response.setHeader('Connection', 'close');
    response.once('close', () => {
      // The connection counts as idle only after this event.
      if (isStopping) setImmediate(() => server.closeIdleConnections());
    });
  });
  const port = await listen(server, address);
  return {
    host: address.host,
    port,
    address: `http://${hostInUrl(address.host)}:${port}`,
    /** Finishes running answers, then closes all connections. */
    stop: async () => {
      isStopping = true;
      const forced = setTimeout(() => server.closeAllConnections(), drainMs);
      await new Promise((resolve) => server.close(resolve));
      clearTimeout(forced);
    },
  };
}

/** A wildcard is no host to connect to. */
function hostInUrl(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}
