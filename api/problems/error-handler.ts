import type { ErrorRequestHandler, NextFunction, Request, Response } from 'express';
import * as z from 'zod';
import type { ApiDependencies } from '#api/dependencies.ts';
import { jsonReply, sendReply } from '#api/http/reply.ts';
import { contextOf } from '#api/http/request-context.ts';
import type { ProblemCode } from '#api/problems/problem-catalogue.ts';
import { Problem, problemBody } from '#api/problems/problem.ts';
import { DatabaseUnavailableError, sqlState } from '#db/connection/database.ts';
import { EndpointRefusedError } from '#fulfilment/event-webhooks/manage-endpoint.ts';

/** PostgreSQL restarts or fails over within seconds; earlier retries only add load. */
const DATABASE_RETRY_SECONDS = 2;

/** An unknown error is opaque: only its request id refers to the log. */
export function errorHandler({
  logger,
  bodyLimitBytes,
  publicUrl,
}: Pick<ApiDependencies, 'logger' | 'bodyLimitBytes' | 'publicUrl'>): ErrorRequestHandler {
  return (error: unknown, request: Request, response: Response, _next: NextFunction) => {
    const { requestId, route, visitorPage } = contextOf(request);
    const problem = asProblem(error, bodyLimitBytes);
    if (problem.code === 'internal_error') {
      logger.error({ err: error, requestId, route }, 'a request failed for an unknown reason');
    } else if (problem.status >= 500) {
      logger.warn({ err: error, requestId, route, code: problem.code }, 'a request could not be answered');
    }
    if (response.headersSent) {
      // Part of the answer was sent already; closing the connection reports the error.
      response.destroy();
      return;
    }
    if (visitorPage !== undefined) {
      const { query } = request;
      sendReply(response, visitorPage(problem, { query, header: (name) => request.get(name) }));
      return;
    }
    const body = problemBody(problem, requestId, publicUrl());
    const type = { 'Content-Type': 'application/problem+json; charset=utf-8', 'Cache-Control': 'no-store' };
    sendReply(response, jsonReply(problem.status, body, { ...type, ...problem.headers }));
  };
}

function asProblem(error: unknown, bodyLimitBytes: number): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof DatabaseUnavailableError || isDatabaseBusy(error)) return databaseUnavailable(error);
  if (error instanceof EndpointRefusedError) {
    return new Problem(error.code, { ...(error.code === 'webhook_endpoint_limit' && { detail: error.message }) });
  }
  const known = bodyProblem(error);
  if (known === 'payload_too_large') {
    const limit = z.object({ limit: z.number() }).safeParse(error).data?.limit ?? bodyLimitBytes;
    return new Problem(known, { detail: `The limit is ${limit} bytes.`, cause: error });
  }
  return new Problem(known ?? 'internal_error', { cause: error });
}

export function databaseUnavailable(cause: unknown): Problem {
  return new Problem('database_unavailable', { headers: { 'Retry-After': String(DATABASE_RETRY_SECONDS) }, cause });
}

/** 53: out of a resource; 55P03 and 57014: a lock or statement timeout; 25006: a standby during a failover. */
function isDatabaseBusy(error: unknown): boolean {
  const state = sqlState(error);
  return state !== undefined && (state.startsWith('53') || ['55P03', '57014', '25006'].includes(state));
}

const BODY_PROBLEMS: Readonly<Record<string, ProblemCode>> = {
  'entity.too.large': 'payload_too_large',
  'encoding.unsupported': 'unsupported_encoding',
  'request.aborted': 'malformed_request',
  'request.size.invalid': 'malformed_request',
};

function bodyProblem(error: unknown): ProblemCode | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('type' in error && typeof error.type === 'string') return BODY_PROBLEMS[error.type];
  // A path that is not valid percent-encoding.
  return error instanceof URIError ? 'malformed_request' : undefined;
}
