import { endpointNames } from '#simulator/behaviour/dialect.ts';
import type { Answer } from '#simulator/service/errors.ts';
import { PAGINGS, shapedError } from '#simulator/shapes/answers.ts';
import { type ShapeContext, fieldChange, holdsCurrency } from '#simulator/shapes/fields.ts';
import {
  type Json,
  type JsonObject,
  type Shaped,
  isArray,
  isObject,
  jsonFrom,
  objectAt,
  objectSchema,
  orNull,
  splitNull,
} from '#simulator/shapes/json.ts';
import { type Shape, eventRecord, knownEvent, looksPlain, ownName } from '#simulator/shapes/shape.ts';
import type { Store } from '#simulator/store/store.ts';
import { wireSchema } from '#simulator/wire.ts';
import { type EndpointName, ENDPOINTS, eventBody, statedUnit, NEEDED_FOR } from '#upstream/contract.ts';

const NESTED = new Set(['failure', 'access', 'refund']);

const EXTRA: Readonly<{ values: JsonObject; schemas: JsonObject }> = {
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
function shapedRecord(context: ShapeContext, record: string, schema: JsonObject, data?: string): Shaped {
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
    const bare = shapedRecord(context, data, plain);
    return { name, required, ...(shape.event_data === 'named' ? wrapped(bare, data) : bare) };
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
  return NESTED.has(name) ? shapedRecord(context, name, plain) : { schema: plain, value: (value) => value };
}

function shownNameOf({ shape }: ShapeContext, record: string, name: string): string {
  if (name === 'status') return shape.status_field;
  return record === 'event' && name === 'event' ? shape.event_field : name;
}

function wrapped({ schema, value }: Shaped, name: string): Shaped {
  return { schema: objectSchema({ [name]: schema }), value: (plain) => ({ [name]: value(plain) }) };
}

const RECORDS_WITH_MONEY = ['package', 'plan', 'order', 'topup', 'subscription', 'refund', 'transaction', 'wallet'];

/** Each schema is made together with its conversion, so that the OpenAPI document describes what is sent. */
export class Shaper {
  readonly shape: Shape;
  readonly #context: ShapeContext;
  /** Header names and refusals may still change. */
  readonly #isPlain: boolean;
  readonly #answers = new Map<EndpointName, Shaped | undefined>();
  readonly #events = new Map<string, Shaped>();

  constructor(shape: Shape, numberOf: ShapeContext['numberOf'] = () => undefined) {
    this.shape = shape;
    this.#context = { shape, numberOf };
    const isOurUnit = RECORDS_WITH_MONEY.every((record) => statedUnit(record) === undefined);
    this.#isPlain = isOurUnit && looksPlain({ ...shape, header_prefix: 'X-Service', errors: 'code' });
  }

  answer(name: EndpointName | undefined, answer: Answer): Answer {
    if (answer.verbatim === true) return answer;
    if (answer.status >= 400) return shapedError(this.shape.errors, answer);
    const shaped = name === undefined || this.#isPlain ? undefined : this.described(name);
    return shaped === undefined ? answer : { ...answer, body: JSON.stringify(shaped.value(jsonFrom(answer.body))) };
  }

  event(event: string, plain: Readonly<Record<string, unknown>>): unknown {
    if (this.#isPlain) return plain;
    let shaped = this.#events.get(event);
    if (shaped === undefined) {
      shaped = this.describedEvent(event, objectAt(jsonFrom(wireSchema(eventBody(knownEvent(event))))));
      this.#events.set(event, shaped);
    }
    return shaped.value(jsonFrom(plain));
  }

  described(name: EndpointName): Shaped | undefined {
    if (name === 'getOpenApi') return undefined;
    const known = this.#answers.get(name);
    if (known !== undefined) return known;
    const schema = objectAt(jsonFrom(wireSchema(ENDPOINTS[name].answer)));
    const record = ownName(ENDPOINTS[name].record);
    const item = itemSchema(schema);
    const shaped =
      item === undefined
        ? this.#enveloped(shapedRecord(this.#context, record, schema), record)
        : this.#listed(shapedRecord(this.#context, record, item), record);
    this.#answers.set(name, shaped);
    return shaped;
  }

  describedEvent(event: string, schema: JsonObject): Shaped {
    return shapedRecord(this.#context, 'event', schema, eventRecord(event));
  }

  #enveloped(bare: Shaped, name: string): Shaped {
    switch (this.shape.envelope) {
      case 'none':
        return bare;
      case 'data':
        return wrapped(bare, 'data');
      case 'data_named':
        return wrapped(wrapped(bare, name), 'data');
      case 'named':
        return wrapped(bare, name);
    }
  }

  #listed(item: Shaped, record: string): Shaped {
    const { list, paging, extra_fields } = this.shape;
    const items = { type: 'array', items: item.schema };
    const valuesOf = (plain: Json): readonly Json[] => {
      const data = isObject(plain) ? plain['data'] : undefined;
      return isArray(data) ? data.map(item.value) : [];
    };
    // A bare array has no place for other fields.
    if (list === 'array') return { schema: items, value: valuesOf };
    const key = list === 'items' ? 'items' : 'data';
    const named = list === 'data_named' ? `${record}s` : undefined;
    const extra = extra_fields ? EXTRA : { values: {}, schemas: {} };
    return {
      schema: objectSchema({
        [key]: named === undefined ? items : objectSchema({ [named]: items }),
        ...PAGINGS[paging].fields,
        ...extra.schemas,
      }),
      value: (plain) => {
        const { data: _data, ...beside } = isObject(plain) ? plain : {};
        const values = valuesOf(plain);
        return { [key]: named === undefined ? values : { [named]: values }, ...beside, ...extra.values };
      },
    };
  }
}

function itemSchema(schema: JsonObject): JsonObject | undefined {
  const { type, items } = objectAt(schema, 'properties', 'data');
  return type === 'array' && isObject(items) ? items : undefined;
}

export const LISTS: ReadonlySet<EndpointName> = new Set(
  endpointNames.filter((name) => itemSchema(objectAt(jsonFrom(wireSchema(ENDPOINTS[name].answer)))) !== undefined),
);

/** The numbers of ids are stable; their last digit makes them unique across tables. */
const TABLES = [
  [1, 'sales'],
  [2, 'esims'],
  [3, 'refunds'],
  [4, 'ledger'],
] as const;

export function numberOfId(store: Store, id: string): number | undefined {
  for (const [digit, table] of TABLES) {
    const found = store.get(table, { id });
    if (found !== undefined) return found.sequence * 10 + digit;
  }
  return undefined;
}

/** An unknown number stays as it is. */
export function textOfId(store: Store, given: string): string {
  if (!/^[1-9]\d{1,14}$/.test(given)) return given;
  const [, table] = TABLES.find(([digit]) => digit === Number(given) % 10) ?? [];
  return (table && store.get(table, { sequence: Math.floor(Number(given) / 10) })?.id) ?? given;
}
