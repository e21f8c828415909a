/**
 * Keeps no state, and never sends a request twice: it tries the next API only if no connection was made. Proxies in the
 * npm registry send the body before they know that they are connected.
 */
import { createServer, type ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { forward, type ForwardFailure } from '#telemetry/forward.ts';
import { close, listen, SLOW_REQUESTS } from '#telemetry/http-server.ts';

export interface LoadBalancerOptions {
  /** 0 takes any free port. */
  readonly port: number;
  readonly apis: readonly number[];
}

export interface LoadBalancer {
  readonly port: number;
  close(): Promise<void>;
}

const HOST = '127.0.0.1';
const CHECK_EVERY_MS = 500;
const CHECK_WITHIN_MS = 2_000;

/** @throws Error with code EADDRINUSE or EACCES. */
export async function startLoadBalancer({ port, apis }: LoadBalancerOptions): Promise<LoadBalancer> {
  const closing = new AbortController();
  const ready = new Set(apis);
  let turn = 0;
  /** Those that are not ready come last: a check may be late. */
  const inTurn = () => {
    const first = turn++ % apis.length;
    const order = [...apis.slice(first), ...apis.slice(0, first)];
    return [...order.filter((api) => ready.has(api)), ...order.filter((api) => !ready.has(api))];
  };
  const server = createServer(SLOW_REQUESTS, (request, response) => {
    // The sender or a proxy may see the end of the body elsewhere (RFC 9112, 6.1).
    if (request.httpVersion === '1.0' && request.headers['transfer-encoding'] !== undefined)
      return refuse(response, 400, 'HTTP/1.0 has no Transfer-Encoding.');
    const left = inTurn().values();
    const next = (failure?: ForwardFailure) => {
      if (failure?.sent === true) return refuse(response, 502, 'The API ended the connection before its answer.');
      const { value: api } = left.next();
      if (api === undefined) return refuse(response, 503, 'No API accepts connections.');
      forward(request, response, { host: HOST, port: api }, next);
    };
    next();
  });
  const listening = await listen(server, { host: HOST, port });
  const checks = Promise.all(apis.map((api) => watch(api, ready, closing.signal)));
  return {
    port: listening,
    close: async () => {
      closing.abort();
      await Promise.all([checks, close(server, 'all')]);
    },
  };
}

async function watch(api: number, ready: Set<number>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(CHECK_WITHIN_MS)]);
    const answers = await fetch(`http://${HOST}:${api}/readyz`, { signal: limit }).then(
      async (answer) => {
        await answer.body?.cancel();
        return answer.status === 200;
      },
      () => false,
    );
    if (answers) ready.add(api);
    else ready.delete(api);
    await delay(CHECK_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}

function refuse(response: ServerResponse, status: 400 | 502 | 503, text: string): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  if (status !== 400) response.setHeader('Retry-After', '1');
  response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8', Connection: 'close' });
  response.end(`${text}\n`);
}
