import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { close, listen } from '#telemetry/listening.ts';
import type { Metrics } from '#telemetry/metrics.ts';
import { checkReadiness, type DegradationCheck, type ReadinessCheck } from '#telemetry/readiness.ts';
import { createRedactor } from '#telemetry/redaction.ts';

export interface ProbeServerOptions {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** What `/readyz` asks, by name. */
  readonly checks: Readonly<Record<string, ReadinessCheck>>;
  /** What `/readyz` names beside that, without being less ready for it. */
  readonly degraded?: DegradationCheck;
  readonly metrics: Metrics;
  /** How long one check may take, in milliseconds. */
  readonly checkDeadlineMs?: number;
}

export interface ProbeServer {
  readonly host: string;
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Serves the probes of a process that has no API of its own: `/healthz` (the process runs), `/readyz` (every check
 * passes, else 503 with what is wrong) and `/metrics`.
 *
 * @throws Error with code EADDRINUSE or EACCES when the port cannot be taken.
 */
export async function startProbeServer(options: ProbeServerOptions): Promise<ProbeServer> {
  const server = createServer((request, response) => {
    answer(request, response, options).catch((error: unknown) => {
      sendJson(response, 500, { error: error instanceof Error ? error.name : 'unknown error' });
    });
  });
  // A probe sends no body; a slow or silent client must not hold a connection.
  server.requestTimeout = 5_000;
  server.headersTimeout = 5_000;
  return {
    host: options.host,
    port: await listen(server, options),
    close: () => close(server, 'all'),
  };
}

async function answer(request: IncomingMessage, response: ServerResponse, options: ProbeServerOptions): Promise<void> {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('Allow', 'GET, HEAD');
    sendJson(response, 405, { error: 'only GET' });
    return;
  }
  switch (request.url?.split('?', 1)[0]) {
    case '/healthz':
      sendJson(response, 200, { status: 'ok' });
      return;
    case '/readyz': {
      const readiness = await checkReadiness(options.checks, {
        degraded: options.degraded,
        deadlineMs: options.checkDeadlineMs,
      });
      sendJson(response, readiness.ready ? 200 : 503, {
        status: readiness.ready ? 'ready' : 'not ready',
        checks: redactor.value(readiness.checks),
        degraded: redactor.value(readiness.degraded),
      });
      return;
    }
    case '/metrics': {
      const { contentType, body } = await options.metrics.render();
      response.writeHead(200, { 'Content-Type': contentType }).end(body);
      return;
    }
    default:
      sendJson(response, 404, { error: 'not here; try /healthz, /readyz or /metrics' });
  }
}

/** Errors of drivers name addresses and, at worst, passwords in URLs. */
const redactor = createRedactor();

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  if (response.headersSent) return;
  response.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
  response.end(`${JSON.stringify(body)}\n`);
}
