import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { hostOf } from '#domain/text.ts';
import { forward, READS } from '#telemetry/forward.ts';
import { close, listen, SLOW_REQUESTS, type SmallServer } from '#telemetry/http-server.ts';

interface UiProxyOptions {
  readonly host: string;
  readonly port: number;
  readonly target: string;
  /** As browsers send them in `Origin`. */
  readonly origins: readonly string[];
  readonly onProblem?: (problem: UiProxyProblem) => void;
}

export interface UiProxyProblem {
  readonly what: 'host' | 'origin' | 'unreachable';
  readonly detail: string;
}

/**
 * The Temporal UI answers any `Host`: an attacker could point a name at this machine (DNS rebinding).
 * @throws Error with code EADDRINUSE or EACCES.
 */
export async function startUiProxy(options: UiProxyOptions): Promise<SmallServer> {
  const server = createServer(SLOW_REQUESTS, (request, response) => {
    const problem = problemOf(request, options.origins);
    if (problem === undefined) passOn(request, response, options);
    else refuse(response, 403, problem, options);
  });
  return { host: options.host, port: await listen(server, options), close: () => close(server, 'all') };
}

function problemOf({ method = '', headers }: IncomingMessage, origins: readonly string[]): UiProxyProblem | undefined {
  const host = headers.host?.toLowerCase() ?? '';
  if (!origins.some((origin) => new URL(origin).host === host)) return { what: 'host', detail: host };
  if (READS.has(method)) return undefined;
  const { origin } = headers;
  const site = headers['sec-fetch-site'];
  if (origin !== undefined && !origins.includes(origin)) return { what: 'origin', detail: origin };
  // Browsers always send the origin of such a request; curl does not.
  if (site === 'cross-site' || site === 'same-site') return { what: 'origin', detail: `Sec-Fetch-Site: ${site}` };
  return undefined;
}

function passOn(request: IncomingMessage, response: ServerResponse, options: UiProxyOptions): void {
  const url = new URL(options.target);
  const target = { host: hostOf(url), port: Number(url.port || 80) };
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
  const headers = { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store', Connection: 'close' };
  response.writeHead(status, headers);
  response.end(`${TEXTS[problem.what](options.origins)}\n`);
}
