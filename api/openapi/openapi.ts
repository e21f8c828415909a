import { STATUS_CODES } from 'node:http';
import * as z from 'zod';
import {
  createDocument,
  type ZodOpenApiObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponseObject,
} from 'zod-openapi';
import { idempotencyKeyHeader, replayedHeader } from '#api/http/idempotency-header.ts';
import type { DocumentedAnswer, Operation } from '#api/http/operation.ts';
import { recordedExchange } from '#api/openapi/recorded-examples.ts';
import { TAGS } from '#api/openapi/tags.ts';
import { problemExample, problemSchema } from '#api/problems/problem-schema.ts';
import { PROBLEMS, problemCodes, type ProblemCode } from '#api/problems/problem.ts';
import { eventWebhooks, webhookEventSchemas } from '#api/webhook-endpoints/event-webhooks.ts';
import { API_SCOPES } from '#db/access/api-keys.ts';

const preferHeader = z.strictObject({
  Prefer: z.string().optional().meta({
    description: '`wait=N` (RFC 7240): rather wait up to so many seconds for the end than be answered at once.',
    example: 'wait=20',
  }),
});

/** Of answers to a valid key, where it is limited. */
const RATE_LIMIT_HEADERS = {
  'RateLimit-Policy':
    'The limit: `q` requests at once, and as many again after `w` seconds (draft-ietf-httpapi-ratelimit-headers).',
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
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      description:
        'Buys eSIM packages and VPN subscriptions from the service; nothing is bought a second time unless the first is known to have cost ' +
        'nothing. Errors are problem+json (RFC 9457): switch on `code`. Lists come in pages: pass `next_cursor` as `cursor`. Amounts are ' +
        'decimal strings, times are RFC 3339. Unknown fields are refused in requests; new ones may be added to answers, and new values to their ' +
        'enums. Every call takes the header `X-Request-Id` (1 to 64 letters, digits, `.`, `_` or `-`): the name of the request in our log and ' +
        'in its answer; one is made where it is missing or of another form.\n\n' +
        `<details><summary>Scopes of API keys</summary>\n\n${scopesTable()}\n\n</details>`,
    },
    tags: tagsOf(operations),
    paths,
    webhooks: eventWebhooks(),
    components: {
      schemas: webhookEventSchemas,
      headers: {
        'X-Request-Id': {
          description: 'Names this request in our log: as you have named it, where you have.',
          schema: { type: 'string' },
        },
      },
      examples: problemExamples(),
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description:
            'An API key, `rsk_…`. What it may do are its scopes; each call names the one that it needs, but `GET /v1/key`.',
        },
      },
    },
  };
  const described = createDocument(document, {
    override: ({ jsonSchema, io }) => {
      // Requests are closed, answers are not: a later version may say more, and generated clients must not mind.
      if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
      // The format says it, and numbers have no pattern.
      if (jsonSchema.format === 'date-time' || jsonSchema.type === 'integer') delete jsonSchema.pattern;
    },
  });
  separateByCommas(described);
  leaveReferencesOpen(described);
  return withoutSuggestedFilters(described);
}

/**
 * What is described anew where it is used (`money.meta(…)`) becomes a reference with `additionalProperties: false`
 * beside it, which would forbid all that the reference allows. Whether it is closed, its own schema says.
 */
function leaveReferencesOpen(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  if ('$ref' in value && 'additionalProperties' in value) delete value.additionalProperties;
  for (const each of Object.values(value)) leaveReferencesOpen(each);
}

/** Several values stand in one parameter; the default of OpenAPI would be to repeat it. */
function separateByCommas({ paths = {} }: ReturnType<typeof createDocument>): void {
  for (const parameter of Object.values(paths).flatMap((path) => path.get?.parameters ?? [])) {
    if ('in' in parameter && parameter.in === 'query' && isArray(parameter.schema))
      Object.assign(parameter, { style: 'form', explode: false });
  }
}

function isArray(schema: unknown): boolean {
  return typeof schema === 'object' && schema !== null && 'type' in schema && schema.type === 'array';
}

/**
 * Takes the examples of optional query parameters out: /docs would fill them in, and the first list that a newcomer
 * asks for would be filtered down to nothing.
 */
function withoutSuggestedFilters(document: ReturnType<typeof createDocument>): object {
  for (const operation of Object.values(document.paths ?? {}).flatMap(({ get }) => (get === undefined ? [] : [get]))) {
    for (const parameter of operation.parameters ?? []) {
      if ('$ref' in parameter || parameter.in !== 'query' || parameter.required === true) continue;
      const { schema } = parameter;
      if (typeof schema === 'object') delete schema['example' as keyof typeof schema];
      delete parameter.example;
    }
  }
  return document;
}

function describeOperation(operation: Operation): ZodOpenApiOperationObject {
  const { scope, params, query, body, bodyRequired } = operation;
  const requestParams = {
    ...(params === undefined ? {} : { path: params }),
    ...(query === undefined ? {} : { query }),
    ...headerParameters(operation),
  };
  const recorded = recordedExchange(operation.id)?.request.body;
  const example = operation.bodyExampleFirst
    ? (operation.bodyExample ?? recorded)
    : (recorded ?? operation.bodyExample);
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    description: [
      operation.description,
      scope === undefined ? undefined : scope === 'none' ? 'Any valid key may.' : `Scope: \`${scope}\`.`,
    ]
      .filter(Boolean)
      .join('\n\n'),
    security: scope === undefined ? [] : [{ apiKey: scope === 'none' ? [] : [scope] }],
    requestParams,
    ...(body === undefined
      ? {}
      : { requestBody: { required: bodyRequired, content: { 'application/json': { schema: body, example } } } }),
    ...(operation.reads === 'bytes'
      ? {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: { description: 'Signed as sent.' } } },
          },
        }
      : {}),
    responses: Object.fromEntries<ZodOpenApiResponseObject>([
      ...Object.entries(operation.answers).map(([status, answer]) => {
        const recorded = recordedAnswer(operation.id, Number(status));
        return [status, describeAnswer(operation, answer, recorded)] as const;
      }),
      ...describeProblems(operation),
    ]),
  };
}

/** What was created and is finished by the time of the answer (201) looks as it does when it is read. */
function recordedAnswer(id: string, status: number): unknown {
  const exchange =
    recordedExchange(id, status) ?? (status === 201 ? recordedExchange(id.replace(/^create/, 'get'), 200) : undefined);
  return exchange?.response.body;
}

/** @param recorded what a real call was answered with; it goes before what was written by hand. */
function describeAnswer(
  { scope, idempotent }: Operation,
  answer: DocumentedAnswer,
  recorded: unknown,
): ZodOpenApiResponseObject {
  const {
    description,
    contentType,
    otherContentTypes = [],
    schema = { type: 'string' as const },
    headers = {},
  } = answer;
  const example = answer.schema === undefined ? undefined : (recorded ?? answer.example);
  return {
    description,
    headers: describeHeaders({
      ...headers,
      ...(idempotent ? replayedHeader : {}),
      ...(scope === undefined ? {} : RATE_LIMIT_HEADERS),
    }),
    content: {
      [contentType]: { schema, ...(example === undefined ? {} : { example }) },
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

function scopesTable(): string {
  const rows = Object.entries(API_SCOPES).map(([scope, meaning]) => `| \`${scope}\` | ${meaning} |`);
  return ['| Scope | What it allows |', '|---|---|', ...rows].join('\n');
}

/** In the order of the table; a group that is not in it comes last. */
function tagsOf(operations: readonly Operation[]) {
  const used = new Set(operations.map(({ tag }) => tag));
  const known = Object.keys(TAGS).filter((name) => used.has(name));
  const names = [...known, ...[...used].filter((name) => TAGS[name] === undefined)];
  return names.map((name) => ({ name, ...(TAGS[name] === undefined ? {} : { description: TAGS[name] }) }));
}

function describeProblems(operation: Operation): [string, ZodOpenApiResponseObject][] {
  const byStatus = Map.groupBy(problemsOf(operation), (code) => PROBLEMS[code].status);
  return (
    [...byStatus]
      // A status that means something else here, such as the 503 of /readyz, is described by the operation itself.
      .filter(([status]) => operation.answers[status] === undefined)
      .toSorted(([left], [right]) => left - right)
      .map(([status, codes]) => [
        String(status),
        {
          description: `${STATUS_CODES[status]}: ${codes.map((code) => `\`${code}\``).join(', ')}.`,
          headers: describeHeaders({
            ...PROBLEM_HEADERS[status],
            ...(operation.scope === undefined ? {} : RATE_LIMIT_HEADERS),
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

/** What the handler names, and what stands before it brings with it. */
export function problemsOf(operation: Operation): ProblemCode[] {
  const { scope, params, query, body, reads, idempotent } = operation;
  const codes: ProblemCode[] = [...(operation.problems ?? []), 'internal_error', 'malformed_request'];
  if (scope !== undefined) codes.push('unauthenticated', 'rate_limited', 'database_unavailable', 'validation_failed');
  if (scope !== undefined && scope !== 'none') codes.push('missing_scope');
  if (operation.accountWide) codes.push('account_wide_only');
  if (params !== undefined || query !== undefined) codes.push('validation_failed');
  if (body !== undefined) codes.push('validation_failed', 'malformed_json', 'unsupported_media_type');
  if (reads !== 'nothing') codes.push('payload_too_large', 'unsupported_encoding');
  if (idempotent) {
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

/** Of all codes: some, such as that of a method which a path does not have, belong to no operation. */
function problemExamples() {
  return Object.fromEntries(
    problemCodes.map((code) => [code, { summary: PROBLEMS[code].title, value: problemExample(code) }]),
  );
}
