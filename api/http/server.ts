import { createServer, type RequestListener, type Server } from 'node:http';
import { listen, SLOW_REQUESTS } from '#telemetry/http-server.ts';

/**
 * Longer than the idle time of usual load balancers (60 s), so that they close first and never send into a closing
 * connection.
 */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
/** Above the timeouts of the database, below the 30 s of Kubernetes. */
export const DRAIN_MS = 22_000;

export interface RunningServer {
  readonly host: string;
  readonly port: number;
  readonly address: string;
  /** Finishes running answers, then closes all connections. */
  stop(): Promise<void>;
}

/** @param address.port 0 lets the system choose. @throws Error with code EADDRINUSE or EACCES */
export async function startServer(
  listener: RequestListener,
  address: { readonly host: string; readonly port: number },
  drainMs: number = DRAIN_MS,
  slowRequests: Readonly<Record<keyof typeof SLOW_REQUESTS, number>> = SLOW_REQUESTS,
): Promise<RunningServer> {
  const server = createServer({ ...slowRequests, keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS }, listener);
  const closing = closeConnectionsWhenStopping(server);
  const port = await listen(server, address);
  return {
    host: address.host,
    port,
    address: `http://${hostInUrl(address.host)}:${port}`,
    stop: async () => {
      closing.stopping = true;
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

/** `server.close` only closes idle connections. */
function closeConnectionsWhenStopping(server: Server): { stopping: boolean } {
  const state = { stopping: false };
  server.prependListener('request', (_request, response) => {
    if (state.stopping) response.setHeader('Connection', 'close');
    response.once('close', () => {
      // The connection counts as idle only after this event.
      if (state.stopping) setImmediate(() => server.closeIdleConnections());
    });
  });
  return state;
}
