import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { forward, READS } from '#telemetry/forward.ts';
import { close, listen, SLOW_REQUESTS } from '#telemetry/http-server.ts';

export interface UiProxyOptions {
  readonly host: string;
  readonly port: number;
  /** URL of the Temporal UI itself, such as `http://temporal-ui:8080`. */
  readonly target: string;
  /** The addresses that operators open, as browsers send them in `Origin`. Requests for others are refused. */
  readonly origins: readonly string[];
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

/**
 * Protects the Temporal UI, which answers any `Host`, against DNS rebinding: an attacker could point the name of a web
 * page at this machine and use the UI. The proxy forwards requests whose `Host` is that of one of the origins. Requests
 * that are not GET or HEAD must not come from another page.
 *
 * @throws Error with code EADDRINUSE or EACCES when the port cannot be taken.
 */
export async function startUiProxy(options: UiProxyOptions): Promise<UiProxy> {
  const server = createServer(SLOW_REQUESTS, (request, response) => {
    const problem = problemOf(request, options.origins);
    if (problem === undefined) passOn(request, response, options);
    else refuse(response, 403, problem, options);
  });
  return {
    port: await listen(server, options),
    close: () => close(server, 'all'),
  };
}

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
  const { hostname, port } = new URL(options.target);
  const target = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 80) };
  forward(request, response, target, ({ error }) =>
    refuse(response, 502, { what: 'unreachable', detail: error.message }, options),
  );
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
