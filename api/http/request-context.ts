import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { Caller, VisitorPage } from '#api/http/operation.ts';
import { Problem } from '#api/problems/problem.ts';
import type { Logger } from '#telemetry/logger.ts';
import type { Metrics } from '#telemetry/metrics.ts';
import { beginSpan, traceIdOf } from '#telemetry/tracing.ts';

interface RequestContext {
  readonly requestId: string;
  /** Undefined for probes. */
  readonly span: ReturnType<typeof beginRequestSpan>;
  route: string;
  apiKeyId: string | undefined;
  caller: Caller | undefined;
  visitorPage: VisitorPage | undefined;
}

/** A map with weak keys costs the garbage collector more. */
const CONTEXT = Symbol('context');

interface RequestWithContext extends IncomingMessage {
  [CONTEXT]?: RequestContext;
}

/** Harmless in logs and headers. */
const USABLE_REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** @throws TypeError when {@link requestContext} did not run. */
export function contextOf(request: IncomingMessage): RequestContext {
  const context = (request as RequestWithContext)[CONTEXT];
  if (context === undefined) throw new TypeError('the request has no context');
  return context;
}

export function requestContext(logger: Logger, metrics: Metrics): RequestHandler {
  return (request: Request, response: Response, next: NextFunction) => {
    const started = performance.now();
    const given = request.get('X-Request-Id');
    const requestId = given !== undefined && USABLE_REQUEST_ID.test(given) ? given : `req_${randomUUID()}`;
    const context: RequestContext = {
      requestId,
      span: beginRequestSpan(request),
      route: 'unmatched',
      apiKeyId: undefined,
      caller: undefined,
      visitorPage: undefined,
    };
    (request as RequestWithContext)[CONTEXT] = context;
    response.setHeader('X-Request-Id', requestId);
    response.once('close', () => {
      const seconds = (performance.now() - started) / 1_000;
      const { route, apiKeyId: caller, span } = context;
      // The caller closed the connection before the answer. Proxies use 499; there is no standard status.
      const status = response.writableFinished ? response.statusCode : 499;
      span?.end(route, status);
      const { method } = request;
      const known = KNOWN_METHODS.has(method) ? method : 'other';
      metrics.httpRequests.inc({ method: known, route, status: String(status) });
      metrics.httpDuration.observe({ method: known, route }, seconds);
      if (!logger.isLevelEnabled('debug') && QUIET_ROUTES.has(route) && status < 400) return;
      const traceId = traceIdOf(span?.traceparent);
      const durationMs = Math.round(seconds * 10_000) / 10;
      // Path and query are not logged: they may contain a caller's references.
      logger.info({ requestId, traceId, method, route, status, durationMs, caller }, 'request answered');
    });
    next();
  };
}

const KNOWN_METHODS = new Set(['GET', 'HEAD', 'POST', 'OPTIONS', 'PUT', 'PATCH', 'DELETE']);

/** Probes are called every few seconds, and webhooks are counted and stored anyway. */
const QUIET_ROUTES = new Set(['/healthz', '/readyz', '/metrics', '/webhooks/service']);

/** They would hide the requests of callers. */
const PROBES = /^\/(?:healthz|readyz|metrics)(?:$|\?)/;

/** `tracestate` and `baggage` are not read: they may contain anything, and would be handed on to others. */
function beginRequestSpan({ method = '', url = '', headers }: IncomingMessage) {
  if (PROBES.test(url)) return undefined;
  const { traceparent } = headers;
  // Node.js joins two headers to one text, which is no valid traceparent.
  const parent = typeof traceparent === 'string' ? traceparent : undefined;
  const span = beginSpan(method, { kind: 'server', parent, attributes: { 'http.request.method': method } });
  return {
    traceparent: span.traceparent,
    run: <Result>(work: () => Result) => span.run(work),
    end: (route: string, status: number) => {
      span.rename(`${method} ${route}`);
      span.set({ 'http.route': route, 'http.response.status_code': status });
      if (status >= 500) span.fail(String(status));
      span.end();
    },
  };
}

/** Node uses the first of two headers; a proxy in front of us may have checked the other. */
const SINGLE = new Set(['host', 'authorization', 'content-type']);

/** RFC 9112, 3.2, forbids a repeated Host. A proxy may see the end of chunks in HTTP/1.0 elsewhere (RFC 9112, 6.1). */
export const refuseAmbiguousHeaders: RequestHandler = ({ rawHeaders, headers, httpVersion }, response, next) => {
  if (httpVersion === '1.0' && headers['transfer-encoding'] !== undefined) {
    response.set('Connection', 'close');
    throw new Problem('malformed_request', { detail: 'HTTP/1.0 has no Transfer-Encoding.' });
  }
  const seen = new Set<string>();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? '';
    if (!SINGLE.has(name)) continue;
    if (seen.has(name)) throw new Problem('malformed_request', { detail: `The header ${name} is repeated.` });
    seen.add(name);
  }
  next();
};

/** For answers that no browser should render or embed. */
const STRICT_POLICY = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

export const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  "connect-src 'self'; font-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

export function securityHeaders(_request: Request, response: Response, next: NextFunction): void {
  response.setHeader('Content-Security-Policy', STRICT_POLICY);
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('Referrer-Policy', 'no-referrer');
  // No cache may store the business data of a caller.
  response.setHeader('Cache-Control', 'no-store');
  next();
}
