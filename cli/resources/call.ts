import { InvalidArgumentError, Option } from 'commander';
import * as z from 'zod';
import type { Operation } from '#api/http/operation.ts';
import { duration, moneyIn, parser } from '#cli/terminal/options.ts';

const LISTED_VALUES = 12;

export interface Field {
  readonly name: string;
  /** `time` is RFC 3339, in a filter also a time span; `texts` have commas; `map` is `name=value`, repeated. */
  readonly kind: 'text' | 'integer' | 'number' | 'flag' | 'time' | 'money' | 'texts' | 'map' | 'json';
  readonly description: string;
  readonly required: boolean;
}

export interface Call {
  readonly operation: Operation;
  readonly path: readonly string[];
  readonly query: readonly Field[];
  /** Of alternatives only the first one's fields are known. */
  readonly body: readonly Field[] | undefined;
}

let calls: Promise<ReadonlyMap<string, Operation>> | undefined;

/** The first call loads the API, which takes half a second. */
export async function apiCall(name: string): Promise<Call> {
  calls ??= import('#cli/api/operations.ts').then(async ({ apiOperations }) => {
    const operations = await apiOperations();
    return new Map(operations.map((operation) => [operation.id, operation]));
  });
  const operation = (await calls).get(name);
  if (operation === undefined) throw new Error(`the API has no call ${name}`);
  const { params, query, body } = operation;
  return {
    operation,
    path: Object.keys(params?.shape ?? {}),
    query: query === undefined ? [] : fieldsOf(query),
    body: body === undefined ? undefined : fieldsOf(body),
  };
}

interface Schema {
  readonly $ref?: string;
  readonly type?: unknown;
  readonly description?: string;
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly $defs?: Readonly<Record<string, Schema>>;
}

/** As /openapi.json describes them: `override` is the part that it replaces. */
function fieldsOf(schema: z.ZodObject): Field[] {
  const root = z.toJSONSchema(schema, {
    io: 'input',
    override: ({ jsonSchema }) => void Object.assign(jsonSchema, jsonSchema['override']),
  }) as Schema;
  const { properties = {}, required = [] } = resolved(root, root);
  return Object.entries(properties).map(([name, of]) => fieldOf(name, of, required.includes(name), root));
}

function fieldOf(name: string, schema: Schema, required: boolean, root: Schema): Field {
  const plain = resolved(schema, root);
  const values = plain.enum ?? (plain.items === undefined ? [] : resolved(plain.items, root).enum) ?? [];
  const about = (schema.description ?? plain.description ?? '').split('\n')[0] ?? '';
  const listed =
    values.length > 0 && values.length <= LISTED_VALUES && !values.every((value) => about.includes(String(value)));
  const description = [about, listed && `One of: ${values.join(', ')}.`].filter(Boolean).join(' ');
  return { name, kind: kindOf(schema, plain, root), description, required };
}

function kindOf(schema: Schema, plain: Schema, root: Schema): Field['kind'] {
  if (/\/Money(Input)?$/.test(given(schema).$ref ?? '')) return 'money';
  if (plain.type === 'boolean') return 'flag';
  if (plain.type === 'integer' || plain.type === 'number') return plain.type;
  if (plain.type === 'string') return plain.format === 'date-time' ? 'time' : 'text';
  if (plain.type === 'array') return resolved(plain.items ?? {}, root).type === 'object' ? 'json' : 'texts';
  return plain.type === 'object' && plain.properties === undefined ? 'map' : 'json';
}

/** The first one that is not null. */
function given(schema: Schema): Schema {
  return schema.anyOf?.find(({ type }) => type !== 'null') ?? schema;
}

/** Null is ignored. */
function resolved(schema: Schema, root: Schema): Schema {
  const { $ref } = given(schema);
  if ($ref !== undefined) return resolved(root.$defs?.[$ref.split('/').at(-1) ?? ''] ?? {}, root);
  if (schema.anyOf === undefined) return schema;
  const { description } = schema;
  return { ...resolved(given(schema), root), ...(description !== undefined && { description }) };
}

/** @param inFilter a time may be a time span until now. */
export function optionOf(field: Field, inFilter: boolean): Option {
  const { kind, description, required } = field;
  const plain = description.replaceAll('`', '').replace(/\.$/, '');
  const about = required ? `${plain}${plain === '' ? '' : ' '}(required)` : plain;
  if (kind === 'flag') return new Option(`${flagOf(field)} [boolean]`, about).argParser(flagValue).preset('true');
  const { value, hint, read } = inFilter && kind === 'time' ? TIME_IN_FILTER : VALUES[kind];
  const option = new Option(`${flagOf(field)} <${value}>`, withHint(about, hint));
  return read === undefined ? option : option.argParser(read);
}

export function valuesOf(
  fields: readonly Field[],
  options: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const value = options[optionOf(field, false).attributeName()];
      return value === undefined ? [] : [[field.name, value]];
    }),
  );
}

export function flagOf({ name }: Field): string {
  return `--${name.replaceAll('_', '-')}`;
}

function withHint(about: string, hint: string | undefined): string {
  if (hint === undefined) return about;
  return about === '' ? hint : `${about} (${hint})`;
}

const flagValue = parser(
  (text) => (text === 'true' || text === 'false' ? text === 'true' : undefined),
  'Use true or false.',
);

const numberValue = parser((text) => {
  const number = Number(text);
  return text.trim() !== '' && Number.isFinite(number) ? number : undefined;
}, 'Use a number.');

const isTime = (text: string): boolean => /^\d{4}-/.test(text) && !Number.isNaN(Date.parse(text));

const timeValue = parser(
  (text) => (isTime(text) ? text : undefined),
  'Use a time with its offset, such as 2030-01-31T12:00:00Z.',
);

function mapValue(text: string, former: unknown): Record<string, string> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('Use name=value.');
  const known = typeof former === 'object' && former !== null ? (former as Record<string, string>) : {};
  return { ...known, [text.slice(0, at)]: text.slice(at + 1) };
}

function jsonValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new InvalidArgumentError('Use JSON.');
  }
}

interface Value {
  /** What a help shows for the value. */
  readonly value: string;
  readonly hint?: string;
  readonly read?: (text: string, former: unknown) => unknown;
}

const VALUES: Readonly<Record<Exclude<Field['kind'], 'flag'>, Value>> = {
  text: { value: 'text' },
  integer: { value: 'number', read: numberValue },
  number: { value: 'number', read: numberValue },
  time: { value: 'time', hint: '2030-01-31T12:00:00Z', read: timeValue },
  money: {
    value: 'amount',
    hint: '"12.50 USD"',
    read: parser(moneyIn, 'Use an amount with its currency, such as "12.50 USD".'),
  },
  texts: { value: 'list', read: (text) => text.split(',').map((each) => each.trim()) },
  map: { value: 'name=value', hint: 'once for each', read: mapValue },
  json: { value: 'json', read: jsonValue },
};

const TIME_IN_FILTER: Value = {
  value: 'time',
  hint: 'a time, or the length of a time span until now such as 24h',
  read: (text) => (isTime(text) ? text : new Date(Date.now() - duration(text)).toISOString()),
};
