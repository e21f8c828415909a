import { STATUS_CODES } from 'node:http';
import * as z from 'zod';
import type { ZodOpenApiMediaTypeObject, ZodOpenApiOperationObject, ZodOpenApiResponseObject } from 'zod-openapi';
import { idempotencyKeyHeader, replayedHeader } from '#api/http/idempotency.ts';
import type { DocumentedAnswer, Operation } from '#api/http/operation.ts';
import { answerExampleOf, bodyExampleOf } from '#api/openapi/examples.ts';
import { type ProblemCode, problemCodes, PROBLEMS } from '#api/problems/problem-catalogue.ts';
import { problemSchema } from '#api/problems/problem-schema.ts';
import { missingCodeOf } from '#api/problems/problem.ts';

const preferHeader = z.strictObject({
  Prefer: z.string().optional().meta({
    description: '`wait=N` (RFC 7240): wait up to N seconds for the end before the answer.',
    example: 'wait=20',
  }),
});

const RATE_LIMIT_HEADERS = {
  'RateLimit-Policy':
    'The limit: `q` requests at once, and as many again after `w` seconds (draft-ietf-httpapi-ratelimit-headers).',
  RateLimit: 'The remaining limit: `r` requests now; all again after `t` seconds.',
};

const PROBLEM_HEADERS: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  401: { 'WWW-Authenticate': 'The authentication scheme.' },
  403: { 'WWW-Authenticate': 'The missing scope.' },
  405: { Allow: 'The methods that are possible.' },
  409: { 'Retry-After': 'Seconds, with `idempotency_in_progress` and `webhook_secret_busy`.' },
  429: { 'Retry-After': 'Seconds.' },
  502: { 'Retry-After': 'Seconds.' },
  503: { 'Retry-After': 'Seconds.' },
  504: { 'Retry-After': 'Seconds.' },
};

export function describeOperation(operation: Operation): ZodOpenApiOperationObject {
  const { scope, params, query, body, bodyRequired = false } = operation;
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    description: [
      operation.description,
      scope === undefined ? undefined : scope === 'none' ? 'Any valid key.' : `Scope: \`${scope}\`.`,
    ]
      .filter(Boolean)
      .join('\n\n'),
    security: scope === undefined ? [] : [{ apiKey: scope === 'none' ? [] : [scope] }],
    requestParams: { ...(params && { path: params }), ...(query && { query }), ...headerParameters(operation) },
    ...(body && requestBody(bodyRequired, { schema: body, example: bodyExampleOf(operation) })),
    ...(operation.reads === 'bytes' && requestBody(true, { schema: { description: 'The signed body.' } })),
    responses: Object.fromEntries<ZodOpenApiResponseObject>([
      ...Object.entries(operation.answers).map(
        ([status, answer]) => [status, describeAnswer(operation, answer)] as const,
      ),
      ...describeProblems(operation),
    ]),
  };
}

function requestBody(required: boolean, content: ZodOpenApiMediaTypeObject) {
  return { requestBody: { required, content: { 'application/json': content } } };
}

function describeAnswer({ scope, idempotent }: Operation, answer: DocumentedAnswer): ZodOpenApiResponseObject {
  const { description, contentType, otherContentTypes = [], schema = { type: 'string' as const }, headers } = answer;
  const example = answerExampleOf(answer);
  return {
    description,
    headers: describeHeaders({
      ...headers,
      ...(idempotent && replayedHeader),
      ...(scope !== undefined && RATE_LIMIT_HEADERS),
    }),
    content: {
      [contentType]: { schema, ...(example !== undefined && { example }) },
      ...Object.fromEntries(otherContentTypes.map((other) => [other, { schema: { type: 'string' as const } }])),
    },
  };
}

function headerParameters({ idempotent, prefersWait, requestHeaders }: Operation): { header?: z.ZodObject } {
  const shape = {
    ...requestHeaders?.shape,
    ...(idempotent && idempotencyKeyHeader.shape),
    ...(prefersWait && preferHeader.shape),
  };
  return Object.keys(shape).length === 0 ? {} : { header: z.strictObject(shape) };
}

function describeProblems(operation: Operation): [string, ZodOpenApiResponseObject][] {
  const byStatus = Map.groupBy(problemsOf(operation), (code) => PROBLEMS[code].status);
  return (
    [...byStatus]
      // The operation itself describes a status that means something else here, such as the 503 of /readyz.
      .filter(([status]) => operation.answers[status] === undefined)
      .toSorted(([left], [right]) => left - right)
      .map(([status, codes]) => [
        String(status),
        {
          description: `${STATUS_CODES[status]}: ${codes.map((code) => `\`${code}\``).join(', ')}.`,
          headers: describeHeaders({
            ...PROBLEM_HEADERS[status],
            ...(operation.scope !== undefined && RATE_LIMIT_HEADERS),
          }),
          content: {
            'application/problem+json': {
              schema: problemSchema,
              examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
            },
          },
        },
      ])
  );
}

export function problemsOf(operation: Operation): ProblemCode[] {
  const { scope, params, query, body, reads, idempotent, requestHeaders } = operation;
  const codes: ProblemCode[] = [...(operation.problems ?? []), 'internal_error', 'malformed_request'];
  const missing = missingCodeOf(params);
  if (missing !== undefined) codes.push(missing);
  if (scope !== undefined) codes.push('unauthenticated', 'rate_limited', 'database_unavailable', 'validation_failed');
  if (scope !== undefined && scope !== 'none') codes.push('missing_scope');
  if (operation.heavy === 'file') codes.push('too_many_streams');
  if (operation.accountWide) codes.push('account_wide_only');
  if (params !== undefined || query !== undefined) codes.push('validation_failed');
  if (body !== undefined) codes.push('validation_failed', 'malformed_json', 'unsupported_media_type');
  if (reads !== 'nothing') codes.push('payload_too_large', 'unsupported_encoding');
  if (idempotent || requestHeaders?.shape['Idempotency-Key'] !== undefined) {
    codes.push(
      'idempotency_key_missing',
      'idempotency_key_invalid',
      'idempotency_in_progress',
      'idempotency_key_reused',
    );
  }
  return problemCodes.filter((code) => codes.includes(code));
}

function describeHeaders(headers: Readonly<Record<string, string>>) {
  return Object.fromEntries(
    ['X-Request-Id', ...Object.keys(headers)].map((name) => [
      name,
      headers[name] === undefined
        ? { $ref: `#/components/headers/${name}` }
        : { description: headers[name], schema: { type: 'string' as const } },
    ]),
  );
}
