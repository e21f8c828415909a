import { createDocument, type ZodOpenApiObject, type ZodOpenApiPathsObject } from 'zod-openapi';
import type { Operation } from '#api/http/operation.ts';
import { TAGS } from '#api/http/tags.ts';
import { describeOperation } from '#api/openapi/describe-operation.ts';
import { openSet } from '#api/openapi/open-sets.ts';
import { problemCodes, PROBLEMS } from '#api/problems/problem-catalogue.ts';
import { problemExample } from '#api/problems/problem-schema.ts';
import { eventWebhooks, webhookEventSchemas } from '#api/webhook-endpoints/event-webhooks.ts';
import { API_SCOPES } from '#db/access/api-keys.ts';

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
      contact: { name: 'The operator of this installation' },
      description:
        'Buys eSIM packages and VPN subscriptions from the service. Nothing is bought a second time without proof ' +
        'that the first purchase cost nothing. Errors are problem+json (RFC 9457): switch on `code`. Lists come in ' +
        'pages: pass `next_cursor` as `cursor`. Amounts are decimal strings, times are RFC 3339. Unknown fields are ' +
        'refused in requests; new ones may be added to answers, and new values to their enums. Every call takes the ' +
        'header `X-Request-Id` (1 to 64 letters, digits, `.`, `_` or `-`): the id of the request in our log and in ' +
        'its answer; a missing or invalid one is generated.\n\n' +
        `<details><summary>Scopes of API keys</summary>\n\n${scopesTable()}\n\n</details>`,
    },
    // Relative, because each installation has its own address.
    servers: [{ url: '/', description: 'This installation' }],
    tags: tagsOf(operations),
    paths,
    webhooks: eventWebhooks(),
    components: {
      schemas: webhookEventSchemas,
      headers: {
        'X-Request-Id': {
          description: 'Identifies this request in our log: the value that you sent, or a generated one.',
          schema: { type: 'string' },
        },
      },
      examples: Object.fromEntries(
        problemCodes.map((code) => [code, { summary: PROBLEMS[code].title, value: problemExample(code) }]),
      ),
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description:
            'An API key, `rsk_test_…`, or `rsk_live_…` in production. Its scopes limit what it may do. Each call ' +
            'except `GET /v1/key` lists the required scope. The key of `npm start` is in `.data/dev-api-key`.',
        },
      },
    },
  };
  const described = createDocument(document, {
    override: ({ jsonSchema, io }) => {
      // Answers are open: later versions may add fields, which generated clients must accept.
      if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
      if (io === 'output') openSet(jsonSchema);
      // It names only some fields: the examples of calls are composed of it.
      if (jsonSchema.properties !== undefined) delete jsonSchema['example' as keyof typeof jsonSchema];
      // They only say that a number is exact in JavaScript.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      // The format suffices, and numbers have no pattern.
      if (jsonSchema.format === 'date-time' || jsonSchema.type === 'integer') delete jsonSchema.pattern;
    },
  });
  styleParameters(described);
  leaveReferencesOpen(described);
  oneTypeEach(described);
  return withoutSuggestedFilters(described);
}

/** Generators know lists of types only for a type or null. */
function oneTypeEach(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const each of Object.values(value)) oneTypeEach(each);
  if (!('type' in value) || !Array.isArray(value.type)) return;
  const types: readonly unknown[] = value.type;
  if (types.filter((type) => type !== 'null').length < 2) return;
  delete value.type;
  Object.assign(value, { anyOf: types.map((type) => ({ type })) });
}

/**
 * A schema with a new description (`money.meta(…)`) becomes a reference with `additionalProperties: false` beside it,
 * which would forbid all properties of the reference.
 */
function leaveReferencesOpen(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  if ('$ref' in value && 'additionalProperties' in value) delete value.additionalProperties;
  for (const each of Object.values(value)) leaveReferencesOpen(each);
}

/** By default OpenAPI repeats the parameter for several values. Pairs are written as `name[key]=value`. */
function styleParameters({ paths = {} }: ReturnType<typeof createDocument>): void {
  const operations = Object.values(paths).flatMap(({ get, post }) => [get, post]);
  for (const parameter of operations.flatMap((each) => each?.parameters ?? [])) {
    if (!('in' in parameter) || parameter.in !== 'query') continue;
    if (isOfType(parameter.schema, 'array')) Object.assign(parameter, { style: 'form', explode: false });
    if (isOfType(parameter.schema, 'object')) Object.assign(parameter, { style: 'deepObject', explode: true });
  }
}

function isOfType(schema: unknown, type: string): boolean {
  return typeof schema === 'object' && schema !== null && 'type' in schema && schema.type === type;
}

/** /docs would send the examples of optional query parameters, and the first list of a new reader would be empty. */
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

function scopesTable(): string {
  const rows = Object.entries(API_SCOPES).map(([scope, meaning]) => `| \`${scope}\` | ${meaning} |`);
  return ['| Scope | What it allows |', '|---|---|', ...rows].join('\n');
}

function tagsOf(operations: readonly Operation[]) {
  const used = new Set(operations.map(({ tag }) => tag));
  return Object.entries(TAGS).flatMap(([name, { description }]) => (used.has(name) ? [{ name, description }] : []));
}
