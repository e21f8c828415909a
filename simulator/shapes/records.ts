import { fieldChange, holdsCurrency, type ShapeContext } from '#simulator/shapes/fields.ts';
import {
  isArray,
  isObject,
  objectSchema,
  orNull,
  splitNull,
  type Json,
  type JsonObject,
  type Shaped,
} from '#simulator/shapes/json.ts';
import { NEEDED_FOR } from '#upstream/contract.ts';

const NESTED = new Set(['failure', 'access', 'refund']);

export const EXTRA: Readonly<{ values: JsonObject; schemas: JsonObject }> = {
  values: { internal_reference: 'r-1', tags: [], audit: { version: 3, by: null } },
  schemas: {
    internal_reference: { type: 'string' },
    tags: { type: 'array' },
    audit: objectSchema({ version: { type: 'integer' }, by: { type: ['string', 'null'] } }),
  },
};

interface Field {
  readonly name: string;
  readonly required: boolean;
  readonly schema: JsonObject;
  readonly value: (plain: Json, record: JsonObject) => Json;
}

/** @param data the record in the field `data` of an event. */
export function shapedRecord(context: ShapeContext, record: string, schema: JsonObject, data?: string): Shaped {
  const { inner, nullable } = splitNull(schema);
  const { properties } = inner;
  if (!isObject(properties)) return { schema, value: (plain) => plain };
  const required = isArray(inner['required']) ? inner['required'] : [];
  const fields = new Map<string, Field | undefined>();
  for (const [name, plain] of Object.entries(properties)) {
    if (!isObject(plain)) continue;
    fields.set(name, shapedField(context, { record, data, properties }, name, plain, required.includes(name)));
  }
  const shown = [...fields.values()].filter((field) => field !== undefined);
  const extra = context.shape.extra_fields ? EXTRA : { values: {}, schemas: {} };
  const shaped: JsonObject = {
    ...inner,
    properties: { ...Object.fromEntries(shown.map((field) => [field.name, field.schema])), ...extra.schemas },
    required: shown.filter((field) => field.required).map(({ name }) => name),
  };
  return {
    schema: nullable ? orNull(shaped) : shaped,
    value: (plain) => (isObject(plain) ? { ...valuesOf(plain, fields), ...extra.values } : plain),
  };
}

/** Unknown fields of a manual event stay unchanged. */
function valuesOf(plain: JsonObject, fields: ReadonlyMap<string, Field | undefined>): JsonObject {
  const shown = Object.entries(plain).flatMap(([name, value]): [string, Json][] => {
    if (!fields.has(name)) return [[name, value]];
    const field = fields.get(name);
    return field === undefined ? [] : [[field.name, field.value(value, plain)]];
  });
  return Object.fromEntries(shown);
}

interface Place {
  readonly record: string;
  readonly data: string | undefined;
  readonly properties: JsonObject;
}

function shapedField(
  context: ShapeContext,
  { record, data, properties }: Place,
  name: string,
  plain: JsonObject,
  required: boolean,
): Field | undefined {
  const { shape } = context;
  const isOptional = !required && !(NEEDED_FOR in plain);
  if (shape.without.includes(`${record}.${name}`)) return undefined;
  if (isOptional && shape.optional_fields === 'missing') return undefined;
  if (name === 'currency' && holdsCurrency(shape, properties)) return undefined;

  const shownName = shownNameOf(context, record, name);
  if (isOptional && shape.optional_fields === 'null') {
    const { schema } = changed(context, record, name, plain);
    return { name: shownName, required, schema: orNull(schema), value: () => null };
  }
  if (record === 'event' && name === 'data' && data !== undefined) {
    const { schema, value } = eventData(context, data, plain);
    return { name, required, schema, value: (each) => value(each) };
  }
  return { name: shownName, required, ...changed(context, record, name, plain) };
}

function changed(
  context: ShapeContext,
  record: string,
  name: string,
  plain: JsonObject,
): Pick<Field, 'schema' | 'value'> {
  const change = fieldChange(context, record, name, plain);
  if (change !== undefined) {
    const schema = splitNull(plain).nullable ? orNull(change.schema) : change.schema;
    return { schema, value: (value, whole) => (value === null ? null : change.value(value, whole)) };
  }
  if (!NESTED.has(name)) return { schema: plain, value: (value) => value };
  const { schema, value } = shapedRecord(context, name, plain);
  return { schema, value: (each) => value(each) };
}

function eventData(context: ShapeContext, record: string, plain: JsonObject): Shaped {
  const bare = shapedRecord(context, record, plain);
  return context.shape.event_data === 'named' ? wrapped(bare, record) : bare;
}

function shownNameOf({ shape }: ShapeContext, record: string, name: string): string {
  if (name === 'status') return shape.status_field;
  return record === 'event' && name === 'event' ? shape.event_field : name;
}

export function wrapped({ schema, value }: Shaped, name: string): Shaped {
  return { schema: objectSchema({ [name]: schema }), value: (plain) => ({ [name]: value(plain) }) };
}
