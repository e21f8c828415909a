import { createServer, request as send, type IncomingMessage, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { close, listen } from '#telemetry/listening.ts';

export interface UiProxyOptions {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** URL of the Temporal UI itself, such as `http://temporal-ui:8080`. */
  readonly target: string;
  /** The addresses that operators open, as browsers send them in `Origin`. Requests for others are refused. */
  readonly origins: readonly string[];
  /** Called for each refused request and each failure to reach the UI. */
  readonly onProblem?: (problem: UiProxyProblem) => void;
}

export interface UiProxyProblem {
  readonly what: 'host' | 'origin' | 'unreachable';
  readonly detail: string;
}

export interface UiProxy {
  readonly port: number;
  close(): Promise<void>;
}

/** Headers of one connection, which are not forwarded (RFC 9110, 7.6.1). */
const OF_ONE_CONNECTION = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
const READS = new Set(['GET', 'HEAD']);

/**
 * Protects the Temporal UI, which answers any `Host`, against DNS rebinding: an attacker could point the name of a web
 * page at this machine and use the UI. The proxy forwards requests whose `Host` is that of one of the origins. Requests
 * that are not GET or HEAD must not come from another page.
 *
 * @throws Error with code EADDRINUSE or EACCES when the port cannot be taken.
 */
export async function startUiProxy(options: UiProxyOptions): Promise<UiProxy> {
  const server = createServer((request, response) => {
    const problem = problemOf(request, options.origins);
    if (problem === undefined) passOn(request, response, options);
    else refuse(response, 403, problem, options);
  });
  server.requestTimeout = 30_000;
  server.headersTimeout = 10_000;
  return {
    port: await listen(server, options),
    close: () => close(server, 'all'),
  };
}

/** The reason to refuse a request; undefined when there is none. */
function problemOf({ method = '', headers }: IncomingMessage, origins: readonly string[]): UiProxyProblem | undefined {
  const host = headers.host?.toLowerCase() ?? '';
  if (!origins.some((origin) => new URL(origin).host === host)) return { what: 'host', detail: host };
  if (READS.has(method)) return undefined;
  const { origin } = headers;
  const site = headers['sec-fetch-site'];
  if (origin !== undefined && !origins.includes(origin)) return { what: 'origin', detail: origin };
  // Browsers always send the origin of such a request. A client without it, such as curl, is no browser.
  if (site === 'cross-site' || site === 'same-site') return { what: 'origin', detail: `Sec-Fetch-Site: ${site}` };
  return undefined;
}

function passOn(request: IncomingMessage, response: ServerResponse, options: UiProxyOptions): void {
  const headers = Object.fromEntries(Object.entries(request.headers).filter(([name]) => !OF_ONE_CONNECTION.has(name)));
  const { hostname, port } = new URL(options.target);
  // Do not build a URL from the path: `//other.example/` would name another server.
  const { method = 'GET', url: path = '/' } = request;
  const outgoing = send({ hostname: hostname.replace(/^\[|\]$/g, ''), port: port || 80, path, method, headers });
  const unreachable = (error: Error) => refuse(response, 502, { what: 'unreachable', detail: error.message }, options);
  outgoing.on('error', unreachable);
  outgoing.on('response', (answer) => {
    const kept = Object.entries(answer.headers).filter(([name]) => !OF_ONE_CONNECTION.has(name));
    response.writeHead(answer.statusCode ?? 502, Object.fromEntries(kept));
    pipeline(answer, response, () => undefined);
  });
  response.on('close', () => outgoing.destroy());
  pipeline(request, outgoing, () => undefined);
}

const TEXTS: Readonly<Record<UiProxyProblem['what'], (origins: readonly string[]) => string>> = {
  host: (origins) => `The Temporal UI is not served at this address. Open ${origins.join(' or ')}.`,
  origin: () => 'This request comes from another page than the Temporal UI.',
  unreachable: () => 'The Temporal UI does not answer.',
};

function refuse(response: ServerResponse, status: number, problem: UiProxyProblem, options: UiProxyOptions): void {
  options.onProblem?.(problem);
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(status, {
    'Content-Type': 'text/plain; charset=utf-8',
    'Cache-Control': 'no-store',
    Connection: 'close',
  });
  response.end(`${TEXTS[problem.what](options.origins)}\n`);
}
