import type { DescribedCall, DescribedField, FieldKind } from '#cli/resources/described-call.ts';
import type { DescribedApi, DescribedOperation } from '#scripts/api/described-api.ts';

/** The maximum number of values that the help of an option lists. */
const LISTED_VALUES = 12;

interface Schema {
  readonly $ref?: string;
  readonly type?: unknown;
  readonly description?: string;
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: unknown;
}

/** Generates the table of calls from which the command line makes its options. */
export function cliCalls(api: DescribedApi): string {
  const calls = api.operations
    .filter(({ authenticated }) => authenticated)
    .map((operation) => [operation.id, callOf(operation, api)] as const);
  return [
    "import type { DescribedCall } from '#cli/resources/described-call.ts';",
    '',
    '/** The calls of the API by their name. */',
    'export const DESCRIBED_CALLS: Readonly<Record<string, DescribedCall>> = ' +
      `${JSON.stringify(Object.fromEntries(calls), undefined, 2)};`,
    '',
  ].join('\n');
}

function callOf({ summary, parameters, body }: DescribedOperation, api: DescribedApi): DescribedCall {
  const schema = body === undefined ? undefined : resolved(body.schema as Schema, api);
  return {
    summary,
    path: parameters.filter((each) => each.in === 'path').map(({ name }) => name),
    query: parameters
      .filter((each) => each.in === 'query')
      .map(({ name, required, description, schema: of }) =>
        fieldOf(name, { ...(of as Schema), ...(description !== undefined && { description }) }, required, api),
      ),
    ...(schema !== undefined && { body: fieldsOf(schema, api) }),
    ...(parameters.some(({ name }) => name === 'Idempotency-Key') && { keyed: true as const }),
    ...(parameters.some(({ name }) => name === 'Prefer') && { prefers: true as const }),
  };
}

/** The fields of a body. Of several alternatives only the fields of the first are known; a file may contain others. */
function fieldsOf(schema: Schema, api: DescribedApi): DescribedField[] {
  const { properties = {}, required = [] } = schema;
  return Object.entries(properties).map(([name, of]) => fieldOf(name, of, required.includes(name), api));
}

function fieldOf(name: string, schema: Schema, required: boolean, api: DescribedApi): DescribedField {
  const plain = resolved(schema, api);
  const values = valuesOf(plain, api);
  const about = (schema.description ?? plain.description ?? '').split('\n')[0] ?? '';
  const listed = values.length > 0 && values.length <= LISTED_VALUES && !values.every((value) => about.includes(value));
  return {
    name,
    kind: kindOf(schema, plain, api),
    description: `${about}${listed ? `${about === '' ? '' : ' '}One of: ${values.join(', ')}.` : ''}`,
    ...(required && { required: true as const }),
  };
}

function kindOf(schema: Schema, plain: Schema, api: DescribedApi): FieldKind {
  if (/\/Money(Input)?$/.test(referenceOf(schema) ?? '')) return 'money';
  if (plain.type === 'boolean') return 'flag';
  if (plain.type === 'integer' || plain.type === 'number') return plain.type;
  if (plain.type === 'string') return plain.format === 'date-time' ? 'time' : 'text';
  if (plain.type === 'array') return isObject(plain.items && resolved(plain.items, api)) ? 'json' : 'texts';
  return plain.type === 'object' && plain.properties === undefined ? 'map' : 'json';
}

function isObject(schema: Schema | undefined): boolean {
  return schema?.type === 'object' || schema?.properties !== undefined;
}

function valuesOf(schema: Schema, api: DescribedApi): string[] {
  return (schema.enum ?? (schema.items === undefined ? [] : resolved(schema.items, api).enum) ?? []).map(String);
}

/** Follows references, and ignores that a value may be null. */
function resolved(schema: Schema, api: DescribedApi): Schema {
  const name = referenceOf(schema)?.split('/').at(-1);
  if (name !== undefined) return resolved(api.schemas[name] as Schema, api);
  const given = schema.anyOf?.filter(({ type }) => type !== 'null') ?? [];
  return given.length === 0 ? schema : { ...resolved(given[0] ?? {}, api), ...described(schema) };
}

function described({ description }: Schema): Schema {
  return description === undefined ? {} : { description };
}

function referenceOf({ $ref, allOf, anyOf }: Schema): string | undefined {
  const [only, ...others] = [...(allOf ?? []), ...(anyOf?.filter(({ type }) => type !== 'null') ?? [])];
  return $ref ?? (others.length === 0 ? only?.$ref : undefined);
}
