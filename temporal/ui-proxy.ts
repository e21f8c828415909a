import { createServer, request as send, type IncomingMessage, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { close, listen } from '#telemetry/listening.ts';

export interface UiProxyOptions {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** Where the Temporal UI listens, such as `http://temporal-ui:8080`. */
  readonly target: string;
  /** The addresses that operators open, as browsers send them in `Origin`. Nothing else is served. */
  readonly origins: readonly string[];
  /** Told of each refused request and of each failure to reach the UI. */
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

/** Headers that speak of one connection only, and are not passed on (RFC 9110, 7.6.1). */
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
 * Stands in front of the Temporal UI, which answers any `Host`: a web page whose name an attacker points at this
 * machine (DNS rebinding) could otherwise use it as its own. Served are requests whose `Host` is that of one of the
 * origins, and of other methods than GET and HEAD those that come from no other page.
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

/** Why a request is not passed on; undefined when it is. */
function problemOf({ method = '', headers }: IncomingMessage, origins: readonly string[]): UiProxyProblem | undefined {
  const host = headers.host?.toLowerCase() ?? '';
  if (!origins.some((origin) => new URL(origin).host === host)) return { what: 'host', detail: host };
  if (READS.has(method)) return undefined;
  const { origin } = headers;
  const site = headers['sec-fetch-site'];
  if (origin !== undefined && !origins.includes(origin)) return { what: 'origin', detail: origin };
  // Browsers always say where such a request comes from. What says nothing, such as curl, is no browser.
  if (site === 'cross-site' || site === 'same-site') return { what: 'origin', detail: `Sec-Fetch-Site: ${site}` };
  return undefined;
}

function passOn(request: IncomingMessage, response: ServerResponse, options: UiProxyOptions): void {
  const headers = Object.fromEntries(Object.entries(request.headers).filter(([name]) => !OF_ONE_CONNECTION.has(name)));
  const { hostname, port } = new URL(options.target);
  // Never joined to a URL: `//other.example/` as a path would name another server.
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
  host: (origins) => `This is the Temporal UI of another address. Open ${origins.join(' or ')}.`,
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
