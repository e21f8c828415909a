import type * as z from 'zod';
import { createDocument, createSchema, type oas31, type ZodOpenApiOperationObject } from 'zod-openapi';
import {
  ENDPOINTS,
  eventEnvelope,
  IDEMPOTENCY_KEY_HEADER,
  SERVICE_HEADERS,
  serviceErrorBody,
  type EndpointContract,
  type EndpointName,
} from '#upstream/contract.ts';
import { BASE_PATH, SANDBOX_SUFFIX } from '#config/simulator.ts';
import type { Dialect } from '#simulator/dialect.ts';
import type { Environment } from '#simulator/environment.ts';
import { requestBody } from '#simulator/service/request-bodies.ts';
import { isServed } from '#simulator/service/served.ts';

/** Events that the simulator emits. */
export const EMITTED_EVENTS = ['ping', 'order.processing', 'order.completed', 'order.failed'] as const;

/** Refusals by status; which of them a call can give follows from its contract. */
const REFUSALS = {
  400: 'Malformed body, or no Idempotency-Key.',
  401: 'No token, or one that is unknown or has ended.',
  402: 'The balance does not cover the price.',
  403: 'Not approved for production yet.',
  404: 'There is no such thing.',
  409: 'The Idempotency-Key or the reference is taken.',
  413: 'The body is too large.',
  415: 'The body is not declared as JSON, or compressed.',
  422: 'A field is wrong or unknown, or the package is not available.',
} as const;

/** The OpenAPI document of what one environment serves in a dialect, made from the contract. */
export function openApiDocument(dialect: Dialect, environment: Environment): ReturnType<typeof createDocument> {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const [name, endpoint] of Object.entries(ENDPOINTS) as [EndpointName, EndpointContract][]) {
    if (!isServed(name, dialect)) continue;
    (paths[endpoint.path] ??= {})[endpoint.method.toLowerCase()] = operation(name, endpoint, environment);
  }
  return createDocument({
    openapi: '3.1.0',
    info: {
      title: 'Reseller interface (simulator)',
      version: 'v1',
      description: 'Generated from the contract. x-request and x-response say how sure each part is.',
    },
    servers: [{ url: environment === 'sandbox' ? `${BASE_PATH}${SANDBOX_SUFFIX}` : BASE_PATH }],
    paths,
    webhooks: Object.fromEntries(EMITTED_EVENTS.map((event) => [event, { post: webhook(event) }])),
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: { Error: wireSchema(serviceErrorBody) },
    },
  });
}

function operation(
  name: EndpointName,
  endpoint: EndpointContract,
  environment: Environment,
): ZodOpenApiOperationObject {
  const { purpose, reason, authorized, answer } = endpoint;
  const body = requestBody(name, environment);
  return {
    operationId: name,
    summary: purpose,
    description: reason,
    'x-request': endpoint.request,
    'x-response': endpoint.response,
    security: authorized ? [{ token: [] }] : [],
    parameters: parametersOf(endpoint),
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { 'application/json': { schema: wireSchema(body) } } } }),
    responses: {
      [name === 'createOrder' ? '201' : '200']: {
        description: 'Done.',
        content: { 'application/json': { schema: wireSchema(answer) } },
      },
      ...Object.fromEntries(refusalsOf(endpoint).map((status) => [String(status), refused(REFUSALS[status])])),
    },
  };
}

function parametersOf({ path, query = [], idempotencyKey }: EndpointContract): oas31.ParameterObject[] {
  const text: oas31.SchemaObject = { type: 'string' };
  return [
    ...(path.includes('{id}') ? [{ name: 'id', in: 'path' as const, required: true, schema: text }] : []),
    ...query.map((name) => ({ name, in: 'query' as const, required: false, schema: text })),
    ...(idempotencyKey
      ? [{ name: IDEMPOTENCY_KEY_HEADER, in: 'header' as const, required: true, schema: { ...text, maxLength: 255 } }]
      : []),
  ];
}

function refusalsOf({ path, authorized, body, query, idempotencyKey }: EndpointContract): (keyof typeof REFUSALS)[] {
  const statuses: (keyof typeof REFUSALS)[] = [413];
  if (authorized || path === '/login') statuses.push(401);
  if (body !== undefined) statuses.push(400, 415);
  if (body !== undefined || query !== undefined) statuses.push(422);
  if (path.includes('{id}')) statuses.push(404);
  if (idempotencyKey) statuses.push(402, 403, 409);
  return statuses.toSorted((left, right) => left - right);
}

function refused(description: string): oas31.ResponseObject {
  return { description, content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } } };
}

function webhook(event: string): ZodOpenApiOperationObject {
  const schema: oas31.SchemaObject = { type: 'string' };
  const header = (name: string): oas31.ParameterObject => ({ name, in: 'header', required: true, schema });
  return {
    operationId: `webhook ${event}`,
    summary: `The event ${event}.`,
    parameters: Object.values(SERVICE_HEADERS).map(header),
    requestBody: { required: true, content: { 'application/json': { schema: wireSchema(eventEnvelope) } } },
    responses: { '2XX': { description: 'Accepted.' } },
  };
}

/**
 * A schema of what is on the wire. The contract's answers transform what they read (ids to text, amounts to exact
 * decimals), so the wire is their input side, for answers as for requests.
 */
function wireSchema(schema: z.ZodType): ReturnType<typeof createSchema>['schema'] {
  return createSchema(schema, { io: 'input', openapiVersion: '3.1.0' }).schema;
}
