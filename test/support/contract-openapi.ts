import * as z from 'zod';
import { BASE_PATH } from '#domain/service/service-address.ts';
import {
  ENDPOINTS,
  EVENT_KINDS,
  eventBody,
  IDEMPOTENCY_KEY_HEADER,
  NEEDED_FOR,
  type EndpointContract,
  type EndpointName,
  type EventKind,
} from '#upstream/contract.ts';

/** A body of the contract: of a call, or of an event. */
export type BodyName = `${EndpointName} request` | `${EndpointName} answer` | `event ${EventKind}`;

export type Schema = { [keyword: string]: unknown };

/** Equivalent notations of an OpenAPI document. */
export interface Writing {
  readonly openapi: '3.0.3' | '3.1.0';
  /** Place of schemas, parameters and responses. */
  readonly parts: 'inline' | 'components';
  readonly base: 'nowhere' | 'server' | 'relative server' | 'paths' | 'placeholder';
  readonly id: string;
  readonly success: '200' | '201' | '2XX';
  readonly trailingSlash: boolean;
}

export const PLAIN: Writing = {
  openapi: '3.1.0',
  parts: 'inline',
  base: 'nowhere',
  id: 'id',
  success: '200',
  trailingSlash: false,
};

const endpoints = Object.entries(ENDPOINTS) as [EndpointName, EndpointContract][];

const BODIES = new Map<BodyName, Schema>();
for (const [name, { body, answer }] of endpoints) {
  if (body !== undefined) BODIES.set(`${name} request`, wireSchema(body));
  BODIES.set(`${name} answer`, wireSchema(answer));
}
for (const kind of EVENT_KINDS) BODIES.set(`event ${kind}`, wireSchema(eventBody(kind)));

/** A copy of the schemas of all bodies of the contract. */
export const contractBodies = () => structuredClone(BODIES);

function wireSchema(schema: z.ZodType): Schema {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return json;
}

/** The OpenAPI document of a service that equals the contract, or has other `bodies`. */
export function contractOpenApi(writing: Writing = PLAIN, bodies = contractBodies()) {
  const components: Record<string, Record<string, unknown>> = {};
  /** Puts a part inline or into the components. */
  const place = (kind: string, name: string, part: unknown): unknown => {
    if (writing.parts === 'inline') return part;
    const key = name.replaceAll(/[^A-Za-z0-9]/g, '-');
    (components[kind] ??= {})[key] = part;
    return { $ref: `#/components/${kind}/${key}` };
  };
  const schemaOf = (name: BodyName): unknown => {
    const schema = bodies.get(name) ?? {};
    return place('schemas', name, writing.openapi === '3.0.3' ? withNullable(schema) : schema);
  };
  const json = (name: BodyName) => ({ content: { 'application/json': { schema: schemaOf(name) } } });

  const paths: Record<string, Record<string, unknown>> = {};
  for (const [name, endpoint] of endpoints) {
    const { method, path, query = [], requiredQuery = [], idempotencyKey, withoutToken, body } = endpoint;
    const text = { schema: { type: 'string' } };
    const parameters = [
      ...(path.includes('{id}') ? [{ name: writing.id, in: 'path', required: true, ...text }] : []),
      ...query.map((field) => ({ name: field, in: 'query', required: requiredQuery.includes(field), ...text })),
      ...(idempotencyKey ? [{ name: IDEMPOTENCY_KEY_HEADER, in: 'header', required: true, ...text }] : []),
    ];
    (paths[pathIn(writing, path)] ??= {})[method.toLowerCase()] = {
      operationId: name,
      security: withoutToken ? [] : [{ token: [] }],
      parameters: parameters.map((parameter) => place('parameters', `${name} ${parameter.name}`, parameter)),
      ...(body === undefined
        ? {}
        : { requestBody: place('requestBodies', name, { required: true, ...json(`${name} request`) }) }),
      responses: {
        [writing.success]: place('responses', name, { description: 'Done.', ...json(`${name} answer`) }),
        401: { description: 'No.' },
      },
    };
  }
  const webhooks = Object.fromEntries(
    EVENT_KINDS.map((kind) => [kind, { post: { requestBody: json(`event ${kind}`), responses: {} } }]),
  );
  return {
    openapi: writing.openapi,
    info: { title: 'Reseller interface', version: '1' },
    ...serversOf(writing),
    security: [{ token: [] }],
    paths,
    [writing.openapi === '3.1.0' ? 'webhooks' : 'x-webhooks']: webhooks,
    components: { ...components, securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
  };
}

function pathIn({ base, id, trailingSlash }: Writing, path: string): string {
  const prefix = base === 'paths' ? BASE_PATH : base === 'placeholder' ? '{base_url}' : '';
  return `${prefix}${path.replace('{id}', `{${id}}`)}${trailingSlash ? '/' : ''}`;
}

function serversOf({ base }: Writing): object {
  if (base === 'server') return { servers: [{ url: `https://service.example${BASE_PATH}/` }] };
  return base === 'relative server' ? { servers: [{ url: BASE_PATH }] } : {};
}

/** The notation of OpenAPI 3.0 for a value that may be null. */
function withNullable(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withNullable);
  if (typeof schema !== 'object' || schema === null) return schema;
  const entries = Object.entries(schema).map(([keyword, value]) => [keyword, withNullable(value)] as const);
  const { anyOf, ...others } = Object.fromEntries(entries) as Schema & { anyOf?: Schema[] };
  if (anyOf === undefined) return others;
  const [only, ...more] = anyOf.filter(({ type }) => type !== 'null');
  if (more.length > 0 || anyOf.length === 1) return { ...others, anyOf };
  return only?.['type'] === undefined ? { ...others, anyOf } : { ...others, ...only, nullable: true };
}

/** Every needed field of the contract, at any depth: it is required in its object. */
export function neededFields() {
  return [...contractBodies()].flatMap(([body, schema]) =>
    neededIn(schema, '').map(({ name, steps, field }) => ({
      body,
      name,
      remove: (bodies: Map<BodyName, Schema>) => {
        const owner = steps.reduce((current, step) => current[step] as Schema, bodies.get(body) ?? {});
        Reflect.deleteProperty(owner['properties'] as Schema, field);
        owner['required'] = (owner['required'] as string[]).filter((name) => name !== field);
      },
    })),
  );
}

interface Found {
  /** In a finding, such as `data[].id`. */
  readonly name: string;
  /** Keywords from the body to the object that has the field. */
  readonly steps: readonly string[];
  readonly field: string;
}

function neededIn(schema: Schema, place: string, steps: readonly string[] = []): Found[] {
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, Schema>);
  const required = (schema['required'] ?? []) as string[];
  const choices = Object.entries((schema['anyOf'] ?? {}) as Record<string, Schema>);
  return [
    ...required.map((field) => ({ name: place === '' ? field : `${place}.${field}`, steps, field })),
    // The product ignores other optional fields that it cannot read.
    ...properties
      .filter(([field, inner]) => required.includes(field) || NEEDED_FOR in inner)
      .flatMap(([field, inner]) =>
        neededIn(inner, place === '' ? field : `${place}.${field}`, [...steps, 'properties', field]),
      ),
    ...(schema['items'] === undefined ? [] : neededIn(schema['items'] as Schema, `${place}[]`, [...steps, 'items'])),
    ...choices.flatMap(([index, choice]) => neededIn(choice, place, [...steps, 'anyOf', index])),
  ];
}
