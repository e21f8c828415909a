import { STATUS_CODES } from 'node:http';
import * as z from 'zod';
import {
  createDocument,
  type ZodOpenApiObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponseObject,
} from 'zod-openapi';
import { API_SCOPES } from '#db/api-keys.ts';
import type { DocumentedAnswer, Operation } from '#api/operation.ts';
import { PROBLEMS, problemCodes, problemType, type ProblemCode } from '#api/problem.ts';

const fieldError = z
  .strictObject({
    in: z.enum(['body', 'query', 'path']),
    field: z.string().meta({ description: 'Dotted path; empty when it is the whole.', example: 'max_price.amount' }),
    message: z.string(),
  })
  .meta({ id: 'FieldError' });

/** Every problem answer. Members that belong to one code only are described as optional. */
export const problemSchema = z
  .strictObject({
    type: z.string().meta({ description: 'Address of a page about this problem, relative to this API.' }),
    code: z.enum(problemCodes as [ProblemCode, ...ProblemCode[]]).meta({ description: 'Stable; switch on this.' }),
    title: z.string(),
    status: z.int(),
    detail: z.string().optional().meta({ description: 'About this occurrence.' }),
    errors: z.array(fieldError).optional().meta({ description: 'With `validation_failed`: what is wrong, field by field.' }),
    missing_scope: z.string().optional().meta({ description: 'With `missing_scope`.' }),
    existing: z
      .strictObject({ id: z.string(), href: z.string() })
      .optional()
      .meta({ description: 'With `external_…_id_taken` and `pricing_rule_exists`: what exists already; absent where the key may not see it.' }),
    refusal: z.string().optional().meta({ description: 'With `action_not_possible`: a stable code for what stands against it.' }),
    failure_class: z.string().optional().meta({ description: 'With `service_…`: what came of asking the service.' }),
    request_id: z.string().meta({ description: 'Names this request in our log.' }),
  })
  .meta({ id: 'Problem', description: 'RFC 9457.' });

const idempotencyKeyHeader = z.strictObject({
  'Idempotency-Key': z.string().meta({
    description: 'Unique for this operation, the same for each of its retries: 1 to 255 visible ASCII characters.',
    example: '4f5d2f0e-2a53-4c6f-9d0e-7a0f6a2a1c11',
    override: { pattern: '^[!-~]{1,255}$', minLength: 1, maxLength: 255 },
  }),
});

/** Of answers to a valid key, where it is limited. */
const RATE_LIMIT_HEADERS = {
  'RateLimit-Policy': 'The limit: `q` requests at once, and as many again after `w` seconds (draft-ietf-httpapi-ratelimit-headers).',
  RateLimit: 'What is left of it: `r` requests now; all again after `t` seconds.',
};

/** Headers that a problem answer carries, by status. */
const PROBLEM_HEADERS: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  401: { 'WWW-Authenticate': 'How to authenticate.' },
  403: { 'WWW-Authenticate': 'Which scope is missing.' },
  405: { Allow: 'The methods that are possible.' },
  409: { 'Retry-After': 'Seconds, with `idempotency_in_progress` and `webhook_secret_busy`.' },
  429: { 'Retry-After': 'Seconds.' },
  502: { 'Retry-After': 'Seconds.' },
  503: { 'Retry-After': 'Seconds.' },
  504: { 'Retry-After': 'Seconds.' },
};

/**
 * The OpenAPI description of exactly the operations that are mounted, from the schemas that check them.
 *
 * @param version of the product.
 */
export function openApiDocument(operations: readonly Operation[], version: string): object {
  const paths: ZodOpenApiPathsObject = {};
  for (const operation of operations) {
    paths[operation.path] = { ...paths[operation.path], [operation.method]: describeOperation(operation) };
  }
  const document: ZodOpenApiObject = {
    openapi: '3.1.0',
    info: {
      title: 'Reseller fulfilment API',
      version,
      description:
        'Buys eSIM packages from the service, survives every failure in between, and never pays twice. Errors are ' +
        'problem+json (RFC 9457): switch on `code`. Lists come in pages: pass `next_cursor` as `cursor`. Amounts are ' +
        'decimal strings, times are RFC 3339. Unknown fields are refused in requests; new ones may be added to answers.',
    },
    tags: [...new Set(operations.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: `An API key. Scopes:\n${Object.entries(API_SCOPES)
            .map(([scope, meaning]) => `- \`${scope}\`: ${meaning}`)
            .join('\n')}`,
        },
      },
    },
  };
  const described = createDocument(document, {
    override: ({ jsonSchema, io }) => {
      // Requests are closed, answers are not: a later version may say more, and generated clients must not mind.
      if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    },
  });
  leaveReferencesOpen(described);
  return described;
}

/**
 * What is described anew where it is used (`money.meta(…)`) becomes a reference with `additionalProperties: false` beside it, which
 * would forbid all that the reference allows. Whether it is closed, its own schema says.
 */
function leaveReferencesOpen(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  if ('$ref' in value && 'additionalProperties' in value) delete value.additionalProperties;
  for (const each of Object.values(value)) leaveReferencesOpen(each);
}

function describeOperation(operation: Operation): ZodOpenApiOperationObject {
  const { scope, params, query, body } = operation;
  const requestParams = {
    ...(params === undefined ? {} : { path: params }),
    ...(query === undefined ? {} : { query }),
    ...(operation.idempotent ? { header: idempotencyKeyHeader } : {}),
  };
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    description: [operation.description, scope === undefined ? undefined : `Scope: \`${scope}\`.`].filter(Boolean).join('\n\n'),
    security: scope === undefined ? [] : [{ apiKey: [scope] }],
    requestParams,
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { 'application/json': { schema: body, example: operation.bodyExample } } } }),
    ...(operation.reads === 'bytes'
      ? { requestBody: { required: true, content: { 'application/json': { schema: { description: 'Signed as sent.' } } } } }
      : {}),
    responses: Object.fromEntries<ZodOpenApiResponseObject>([
      ...Object.entries(operation.answers).map(([status, answer]) => [status, describeAnswer(answer, scope !== undefined)] as const),
      ...describeProblems(operation),
    ]),
  };
}

function describeAnswer(answer: DocumentedAnswer, limited: boolean): ZodOpenApiResponseObject {
  const { description, contentType, schema = { type: 'string' as const }, example, headers = {} } = answer;
  return {
    description,
    headers: describeHeaders({ ...headers, ...(limited ? RATE_LIMIT_HEADERS : {}) }),
    content: { [contentType]: { schema, ...(example === undefined ? {} : { example }) } },
  };
}

function describeProblems(operation: Operation): [string, ZodOpenApiResponseObject][] {
  const byStatus = Map.groupBy(problemsOf(operation), (code) => PROBLEMS[code].status);
  return [...byStatus]
    // A status that means something else here, such as the 503 of /readyz, is described by the operation itself.
    .filter(([status]) => operation.answers[status] === undefined)
    .toSorted(([left], [right]) => left - right)
    .map(([status, codes]) => [
      String(status),
      {
        description: `${STATUS_CODES[status]}: ${codes.map((code) => `\`${code}\``).join(', ')}.`,
        headers: describeHeaders({ ...PROBLEM_HEADERS[status], ...(operation.scope === undefined ? {} : RATE_LIMIT_HEADERS) }),
        content: {
          'application/problem+json': {
            schema: problemSchema,
            examples: Object.fromEntries(codes.map((code) => [code, { summary: PROBLEMS[code].title, value: example(code) }])),
          },
        },
      },
    ]);
}

/** What the handler names, and what stands before it brings with it. */
export function problemsOf(operation: Operation): ProblemCode[] {
  const { scope, params, query, body, reads, idempotent } = operation;
  const codes: ProblemCode[] = [...(operation.problems ?? []), 'internal_error', 'malformed_request'];
  if (scope !== undefined) codes.push('unauthenticated', 'missing_scope', 'rate_limited', 'database_unavailable', 'validation_failed');
  if (operation.accountWide) codes.push('account_wide_only');
  if (params !== undefined || query !== undefined) codes.push('validation_failed');
  if (body !== undefined) codes.push('validation_failed', 'malformed_json', 'unsupported_media_type');
  if (reads !== 'nothing') codes.push('payload_too_large', 'unsupported_encoding');
  if (idempotent) {
    codes.push('idempotency_key_missing', 'idempotency_key_invalid', 'idempotency_in_progress', 'idempotency_key_reused');
  }
  return problemCodes.filter((code) => codes.includes(code));
}

function describeHeaders(headers: Readonly<Record<string, string>>) {
  return Object.fromEntries(
    ['X-Request-Id', ...Object.keys(headers)].map((name) => [
      name,
      { description: headers[name] ?? 'Names this request in our log.', schema: { type: 'string' as const } },
    ]),
  );
}

const EXAMPLE_MEMBERS: Partial<Record<ProblemCode, Record<string, unknown>>> = {
  validation_failed: {
    detail: 'device_imei: see errors.',
    errors: [{ in: 'body', field: 'device_imei', message: 'must have 14 to 16 digits and nothing else' }],
  },
  missing_scope: { detail: 'This needs the scope orders:write.', missing_scope: 'orders:write' },
  external_order_id_taken: {
    detail: 'Order ord_01JQ8Z5YV7N4M2K3H6T9R0WXCD was made for this external_order_id.',
    existing: { id: 'ord_01JQ8Z5YV7N4M2K3H6T9R0WXCD', href: '/v1/orders/ord_01JQ8Z5YV7N4M2K3H6T9R0WXCD' },
  },
  action_not_possible: {
    detail: 'Only an order that is held or needs attention can be tried again: this one is being worked on.',
    refusal: 'not_waiting',
  },
  service_failed: { detail: 'The service answered 500.', failure_class: 'server_error' },
  service_unavailable: { detail: 'The service answered 429 (rate_limited).', failure_class: 'rate_limited' },
  service_timeout: { failure_class: 'timeout' },
};

function example(code: ProblemCode): Record<string, unknown> {
  const { title, status } = PROBLEMS[code];
  return { type: problemType(code), code, title, status, ...EXAMPLE_MEMBERS[code], request_id: 'req_9b2f6c1e-53f0-4c55-8f0d-3c1a7f4e2b90' };
}
