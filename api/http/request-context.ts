import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { Caller, VisitorPage } from '#api/http/operation.ts';
import { beginRequestSpan, type RequestSpan } from '#api/http/request-span.ts';
import type { Logger } from '#telemetry/logger.ts';
import type { Metrics } from '#telemetry/metrics.ts';
import { traceIdOf } from '#telemetry/tracing.ts';

/** Data of a request for log and metrics. */
export interface RequestContext {
  readonly requestId: string;
  /** The span of the request; undefined for probes. */
  readonly span: RequestSpan | undefined;
  /** The path pattern of the matched operation. */
  route: string;
  apiKeyId: string | undefined;
  /** Set by the guard of an operation that needs an API key. */
  caller: Caller | undefined;
  /** Set by the guard of a page for people: shows problems. */
  visitorPage: VisitorPage | undefined;
}

/** A property of the request: a map with weak keys costs the garbage collector more. */
const CONTEXT = Symbol('context');

interface RequestWithContext extends IncomingMessage {
  [CONTEXT]?: RequestContext;
}

/** A caller's request id is used when it is harmless in logs and headers. */
const USABLE_REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** @throws TypeError when {@link requestContext} did not run. */
export function contextOf(request: IncomingMessage): RequestContext {
  const context = (request as RequestWithContext)[CONTEXT];
  if (context === undefined) throw new TypeError('the request has no context');
  return context;
}

/** Gives each request an id, and logs and counts it after its answer. */
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
      report(request, response, context, seconds, { logger, metrics });
    });
    next();
  };
}

/** Path and query are not logged: they may contain a caller's references. */
function report(
  request: Request,
  response: Response,
  context: RequestContext,
  seconds: number,
  { logger, metrics }: { logger: Logger; metrics: Metrics },
): void {
  const { route, requestId, apiKeyId, span } = context;
  const { method } = request;
  // The caller closed the connection before the answer. There is no standard status; proxies use 499.
  const status = response.writableFinished ? response.statusCode : 499;
  span?.end(route, status);
  metrics.httpRequests.inc({ method: KNOWN_METHODS.has(method) ? method : 'other', route, status: String(status) });
  metrics.httpDuration.observe({ method: KNOWN_METHODS.has(method) ? method : 'other', route }, seconds);
  if (!logger.isLevelEnabled('debug') && QUIET_ROUTES.has(route) && status < 400) return;
  logger.info(
    {
      requestId,
      traceId: traceIdOf(span?.traceparent),
      method,
      route,
      status,
      durationMs: Math.round(seconds * 10_000) / 10,
      caller: apiKeyId,
    },
    'request answered',
  );
}

const KNOWN_METHODS = new Set(['GET', 'HEAD', 'POST', 'OPTIONS', 'PUT', 'PATCH', 'DELETE']);

/**
 * Routes without log lines: probes are called every few seconds, and webhooks are counted and stored anyway.
 *
 */
const QUIET_ROUTES = new Set(['/healthz', '/readyz', '/metrics', '/webhooks/service']);
