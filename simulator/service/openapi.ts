import * as z from 'zod';
import { createDocument, type oas31, type ZodOpenApiOperationObject } from 'zod-openapi';
import { type Dialect, endpointNames, isServed, needsToken } from '#simulator/behaviour/dialect.ts';
import { QUERY_FIELDS, requestBody } from '#simulator/service/requests.ts';
import { errorShape, queryNames } from '#simulator/shapes/answers.ts';
import { jsonFrom, objectAt } from '#simulator/shapes/json.ts';
import { looksPlain, type Shape } from '#simulator/shapes/shape.ts';
import { LISTS, type Shaper } from '#simulator/shapes/shaper.ts';
import type { Environment } from '#simulator/store/store.ts';
import { wireSchema } from '#simulator/wire.ts';
import {
  BASE_PATH,
  CALL_MARKS,
  type EndpointContract,
  type EndpointName,
  ENDPOINTS,
  EVENT_KINDS,
  eventBody,
  eventData,
  eventEnvelope,
  type EventKind,
  IDEMPOTENCY_KEY_HEADER,
  SANDBOX_SUFFIX,
  serviceErrorBody,
  serviceHeaders,
} from '#upstream/contract.ts';

const CREATING: ReadonlySet<EndpointName> = new Set([
  'createOrder',
  'createTopup',
  'createVpnOrder',
  'createWebhookSecret',
]);

/** The contract of a call decides which it can give. */
const REFUSALS = {
  400: 'Malformed body, or no Idempotency-Key.',
  401: 'The token is missing, unknown or expired.',
  402: 'The balance does not cover the price.',
  403: 'Not approved for production yet.',
  404: 'The resource does not exist.',
  409: 'The Idempotency-Key or the reference was used before, it is already done, or another operation is under way.',
  413: 'The body is too large.',
  415: 'The body is not declared as JSON, or is compressed.',
  422: 'A field is wrong or unknown, or the operation is not possible with this resource.',
  429: 'Too many requests; Retry-After says how long to wait.',
} as const;

type Document = ReturnType<typeof createDocument>;

/** Making a document takes a good part of a second. */
const lastMade = new Map<Environment, { readonly key: string; readonly document: Document }>();

export function describedService(dialect: Dialect, environment: Environment, shaper: Shaper): Document {
  const key = JSON.stringify([dialect, shaper.shape]);
  const known = lastMade.get(environment);
  if (known?.key === key) return known.document;
  const document = makeDocument(dialect, environment, shaper);
  lastMade.set(environment, { key, document });
  return document;
}

function makeDocument(dialect: Dialect, environment: Environment, shaper: Shaper): Document {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const name of endpointNames) {
    if (!isServed(name, dialect, environment)) continue;
    const { path, method } = ENDPOINTS[name];
    (paths[path] ??= {})[method.toLowerCase()] = operation(name, dialect, environment, shaper);
  }
  return createDocument({
    openapi: '3.1.0',
    info: {
      title: 'Reseller interface (simulator)',
      version: 'v1',
      description: 'Generated from the contract. x-request and x-response say how certain each part is.',
    },
    servers: [{ url: environment === 'sandbox' ? `${BASE_PATH}${SANDBOX_SUFFIX}` : BASE_PATH }],
    paths,
    webhooks: Object.fromEntries(EVENT_KINDS.map((event) => [event, { post: webhook(event, dialect, shaper) }])),
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: { Error: errorShape(shaper.shape.errors)?.schema ?? wireSchema(serviceErrorBody) },
    },
  });
}

function operation(
  name: EndpointName,
  dialect: Dialect,
  environment: Environment,
  shaper: Shaper,
): ZodOpenApiOperationObject {
  const endpoint: EndpointContract = ENDPOINTS[name];
  const { purpose, reason, answer } = endpoint;
  const shaped = looksPlain(shaper.shape) ? undefined : shaper.described(name);
  const body = requestBody(name, environment);
  const linked = LISTS.has(name) && shaper.shape.paging === 'link';
  const link = { description: 'Address of the next page, with rel="next"; absent on the last.', schema: TEXT };
  return {
    operationId: name,
    summary: purpose,
    description: reason,
    'x-request': CALL_MARKS[endpoint.mark].request,
    'x-response': CALL_MARKS[endpoint.mark].response,
    security: needsToken(name, dialect) ? [{ token: [] }] : [],
    requestParams: parametersOf(endpoint, shaper.shape),
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { 'application/json': { schema: wireSchema(body) } } } }),
    responses: {
      [CREATING.has(name) ? '201' : '200']: {
        description: 'Done.',
        ...(linked ? { headers: { Link: link } } : {}),
        content: { 'application/json': { schema: shaped?.schema ?? wireSchema(answer) } },
      },
      ...Object.fromEntries(
        refusalsOf(name, endpoint).map((status) => [String(status), refused(REFUSALS[status], shaper.shape)]),
      ),
    },
  };
}

function parametersOf({ path, query = [], requiredQuery = [], idempotencyKey }: EndpointContract, { paging }: Shape) {
  const field = (name: string): z.ZodType => {
    const schema = QUERY_FIELDS[name] ?? z.string();
    return requiredQuery.includes(name) ? schema : schema.optional();
  };
  return {
    ...(path.includes('{id}') ? { path: z.object({ id: z.string() }) } : {}),
    query: z.object(Object.fromEntries(queryNames(query, paging).map((name) => [name, field(name)]))),
    ...(idempotencyKey ? { header: z.object({ [IDEMPOTENCY_KEY_HEADER]: z.string().min(1).max(255) }) } : {}),
  };
}

const FURTHER_REFUSALS: Readonly<Partial<Record<EndpointName, readonly (keyof typeof REFUSALS)[]>>> = {
  createOrder: [402],
  createTopup: [402],
  createVpnOrder: [402],
  cancelVpnSubscription: [409],
  createWebhookSecret: [409],
  rotateWebhookSecret: [404],
};

/** Calls without a body or query validate both, too. */
const COMMON_REFUSALS = [400, 401, 413, 415, 422, 429] as const;

function refusalsOf(name: EndpointName, { path, idempotencyKey }: EndpointContract): (keyof typeof REFUSALS)[] {
  const statuses = new Set<keyof typeof REFUSALS>([
    ...COMMON_REFUSALS,
    ...(path.includes('{id}') ? [404 as const] : []),
    ...(idempotencyKey ? ([403, 409] as const) : []),
    ...(FURTHER_REFUSALS[name] ?? []),
  ]);
  return [...statuses].toSorted((left, right) => left - right);
}

const TEXT: oas31.SchemaObject = { type: 'string' };

function refused(description: string, { errors }: Shape): oas31.ResponseObject {
  const { contentType } = errorShape(errors) ?? { contentType: 'application/json' };
  if (contentType === undefined) return { description };
  return { description, content: { [contentType]: { schema: { $ref: '#/components/schemas/Error' } } } };
}

function webhook(event: EventKind, dialect: Dialect, shaper: Shaper): ZodOpenApiOperationObject {
  const header = (name: string): oas31.ParameterObject => ({ name, in: 'header', required: true, schema: TEXT });
  const plain = wireSchema(bodyOf(event, dialect));
  const shaped = looksPlain(shaper.shape) ? undefined : shaper.describedEvent(event, objectAt(jsonFrom(plain)));
  return {
    operationId: `webhook ${event}`,
    summary: `The event ${event}.`,
    parameters: Object.values(serviceHeaders(shaper.shape.header_prefix)).map(header),
    requestBody: { required: true, content: { 'application/json': { schema: shaped?.schema ?? plain } } },
    responses: { '2XX': { description: 'Accepted.' } },
  };
}

function bodyOf(event: EventKind, dialect: Dialect): z.ZodType {
  if (dialect.event_in_body) return eventBody(event);
  const data = eventData(event);
  return eventEnvelope.omit({ event: true }).extend(data === undefined ? {} : { data });
}
