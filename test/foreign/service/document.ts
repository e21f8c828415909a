/** The OpenAPI document of the foreign service. Its schemas are read off what the service would answer. */
import { isNumber, nameOf, wordOf } from '#test/foreign/service/present.ts';
import type { RecordKind, Style } from '#test/foreign/service/style.ts';

type Schema = Readonly<Record<string, unknown>>;

/** Everything that can be said about one call. */
export interface DescribedCall {
  readonly method: 'get' | 'post';
  readonly path: string;
  /** Examples of the answer: together they show every field and every form of it. */
  readonly answers: readonly unknown[];
  /** The record that the answer has, whose states are listed. */
  readonly record: RecordKind;
  readonly query?: readonly string[];
  readonly body?: unknown;
  readonly isOpen?: true;
  readonly hasKey?: true;
}

export interface DescribedEvent {
  readonly kind: string;
  readonly record: RecordKind;
  readonly bodies: readonly unknown[];
}

const STATES: Readonly<Partial<Record<RecordKind, readonly string[]>>> = {
  order: ['processing', 'completed', 'failed'],
  topup: ['processing', 'completed', 'failed'],
  subscription: ['processing', 'active', 'cancelled', 'expired', 'failed'],
  cancellation: ['processing', 'cancelled', 'refused'],
  refund: ['processing', 'completed', 'failed'],
  esim: ['available', 'installed', 'active', 'consumed', 'cancelled'],
};

export function openApiOf(style: Style, calls: readonly DescribedCall[], events: readonly DescribedEvent[]): Schema {
  const paths: Record<string, Record<string, unknown>> = {};
  const text = { type: 'string' };
  const json = (schema: Schema) => ({ 'application/json': { schema } });
  for (const { method, path, answers, record, query = [], body, isOpen, hasKey } of calls) {
    (paths[path] ??= {})[method] = {
      ...(isOpen ? { security: [] } : {}),
      parameters: [
        ...(path.includes('{id}') ? [{ name: 'id', in: 'path', required: true, schema: text }] : []),
        ...query.map((name) => ({ name, in: 'query', required: false, schema: text })),
        ...(hasKey ? [{ name: 'Idempotency-Key', in: 'header', required: true, schema: text }] : []),
      ],
      ...(body === undefined
        ? {}
        : {
            // No field of a request is called required.
            requestBody: { required: true, content: json({ ...schemaOf(style, record, [body]), required: [] }) },
          }),
      responses: { '200': { description: 'Done', content: json(schemaOf(style, record, answers)) } },
    };
  }
  const webhooks = events.map(({ kind, record, bodies }) => {
    const content = json(schemaOf(style, record, bodies));
    return [kind, { post: { requestBody: { content }, responses: { '200': { description: 'Thank you' } } } }];
  });
  return {
    openapi: '3.1.0',
    info: { title: 'Foreign reseller interface', version: '1' },
    security: [{ bearer: [] }],
    paths,
    webhooks: Object.fromEntries(webhooks),
    components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
  };
}

function emptyTypeOf({ times }: Style, field: string): string {
  return /(?:_at|At)$/.test(field) && (times === 'seconds' || times === 'milliseconds') ? 'integer' : 'string';
}

function schemaOf(style: Style, record: RecordKind, values: readonly unknown[], field = ''): Schema {
  const present = values.filter((value) => value !== null && value !== undefined);
  const isNullable = values.includes(null);
  const types = (name: string) => (isNullable ? [name, 'null'] : name);
  const [first] = present;
  // Nothing of it was seen: it is empty in every answer.
  if (first === undefined) return isNullable ? { type: [emptyTypeOf(style, field), 'null'] } : {};
  if (Array.isArray(first)) {
    const items = present.flatMap((value): readonly unknown[] => (Array.isArray(value) ? value : []));
    return { type: types('array'), items: schemaOf(style, record, items, field) };
  }
  if (typeof first === 'object') return objectSchema(style, record, present, types('object'));
  if (field === nameOf(style, record, 'status')) {
    const words = (STATES[record] ?? []).map((state) => wordOf(style, record, state));
    if (typeof first === 'string' && words.includes(first))
      return { type: types('string'), enum: [...words, ...(isNullable ? [null] : [])] };
  }
  if (typeof first === 'string') return { type: types(isNumber(first) ? 'integer' : 'string') };
  if (typeof first === 'boolean') return { type: types('boolean') };
  return { type: types(present.every(Number.isInteger) && style.money !== 'number' ? 'integer' : 'number') };
}

function objectSchema(style: Style, record: RecordKind, values: readonly unknown[], type: unknown): Schema {
  const objects = values.filter((value): value is object => typeof value === 'object' && value !== null);
  const names = [...new Set(objects.flatMap((each) => Object.keys(each)))];
  const valuesOf = (name: string) =>
    objects.filter((each) => Object.hasOwn(each, name)).map((each): unknown => Reflect.get(each, name));
  return {
    type,
    properties: Object.fromEntries(
      names.map((name) => [
        name,
        schemaOf(style, name.toLowerCase() === 'refund' ? 'refund' : record, valuesOf(name), name),
      ]),
    ),
    required: names.filter((name) => valuesOf(name).length === objects.length),
  };
}
