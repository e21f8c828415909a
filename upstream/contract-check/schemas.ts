import { type Constraint, brokenConstraint, constraintsOf } from '#upstream/contract-check/constraints.ts';
import {
  type JsonObject,
  NestedTooDeeply,
  NotComparable,
  at,
  entriesAt,
  isObject,
  listAt,
  takeSteps,
  target,
  textAt,
} from '#upstream/contract-check/document.ts';

const TYPES = ['string', 'integer', 'number', 'boolean', 'object', 'array', 'null'] as const;
export type JsonType = (typeof TYPES)[number];

/** A schema with `oneOf` has several. */
export interface ResolvedSchema {
  readonly types: ReadonlySet<JsonType> | undefined;
  readonly values: readonly unknown[] | undefined;
  readonly properties: ReadonlyMap<string, unknown>;
  readonly required: ReadonlySet<string>;
  readonly items: unknown;
  readonly closed: boolean;
  readonly constraints: readonly Constraint[];
}

/** One of them fits a value. */
export type Forms = readonly ResolvedSchema[];

const ANYTHING = ownForm({});

// Choices inside combinations multiply the forms. Further ones are ignored.
const MAX_FORMS = 64;
/** Real documents have a handful of levels. */
const MAX_DEPTH = 100;

/** Resolves one level: a schema may contain itself. @throws NotComparable when it cannot be followed. */
export function formsOf(document: JsonObject, schema: unknown): ResolvedSchema[] {
  return formsBelow(document, schema, { references: new Set(), depth: 0 });
}

function formsBelow(
  document: JsonObject,
  schema: unknown,
  { references, depth }: { readonly references: ReadonlySet<string>; readonly depth: number },
): ResolvedSchema[] {
  if (depth > MAX_DEPTH) throw new NestedTooDeeply();
  takeSteps(document, 1);
  if (schema === false) return [];
  if (!isObject(schema)) return [ANYTHING];

  const below = { references, depth: depth + 1 };
  let forms = [ownForm(schema)];
  const reference = textAt(schema, '$ref');
  if (reference !== undefined) {
    // A schema that refers to itself adds nothing at its second visit.
    if (references.has(reference)) return [ANYTHING];
    const beyond = { ...below, references: new Set([...references, reference]) };
    forms = combined(document, forms, formsBelow(document, target(document, reference), beyond));
  }
  for (const part of listAt(schema, 'allOf')) forms = combined(document, forms, formsBelow(document, part, below));
  for (const keyword of ['anyOf', 'oneOf']) {
    const choices = listAt(schema, keyword).flatMap((choice) => formsBelow(document, choice, below));
    if (listAt(schema, keyword).length > 0) forms = combined(document, forms, choices);
  }
  // OpenAPI 3.0 defines `nullable` only beside a type. Documents also use it beside a reference, with the same meaning.
  const isNullable = at(schema, 'nullable') === true && at(schema, 'type') === undefined;
  return isNullable && forms.length > 0 ? [...forms, { ...ANYTHING, types: new Set(['null' as const]) }] : forms;
}

/** Empty when a reference cannot be followed. @throws NestedTooDeeply */
export function formsOrNone(document: JsonObject, schema: unknown): Forms {
  try {
    return formsOf(document, schema);
  } catch (error) {
    if (!(error instanceof NotComparable) || error instanceof NestedTooDeeply) throw error;
    return [];
  }
}

export function eitherOf(schemas: readonly unknown[]): unknown {
  return schemas.length === 1 ? schemas[0] : { anyOf: schemas };
}

function ownForm(schema: JsonObject): ResolvedSchema {
  const values = valuesOf(schema);
  return {
    types: typesOf(schema, values),
    values,
    properties: new Map(entriesAt(schema, 'properties')),
    required: new Set(listAt(schema, 'required').filter((name) => typeof name === 'string')),
    items: at(schema, 'items'),
    closed: at(schema, 'additionalProperties') === false,
    constraints: constraintsOf(schema),
  };
}

function valuesOf(schema: JsonObject): readonly unknown[] | undefined {
  if (Object.hasOwn(schema, 'const')) return [schema['const']];
  const list = at(schema, 'enum');
  return Array.isArray(list) ? (list as unknown[]) : undefined;
}

function typesOf(schema: JsonObject, values: readonly unknown[] | undefined): ReadonlySet<JsonType> | undefined {
  const named = [at(schema, 'type')].flat().filter(isType);
  if (named.length > 0) return new Set(at(schema, 'nullable') === true ? [...named, 'null' as const] : named);
  if (values !== undefined) return new Set(values.map(typeOf));
  if (isObject(at(schema, 'properties'))) return new Set(['object' as const]);
  if (at(schema, 'items') !== undefined) return new Set(['array' as const]);
  return undefined;
}

function isType(value: unknown): value is JsonType {
  return (TYPES as readonly unknown[]).includes(value);
}

function typeOf(value: unknown): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return isType(typeof value) ? (typeof value as JsonType) : 'object';
}

function combined(document: JsonObject, left: Forms, right: Forms): ResolvedSchema[] {
  // Limited before they are multiplied, so that a document cannot make this run for ever.
  const [some, others] = [left.slice(0, MAX_FORMS), right.slice(0, MAX_FORMS)];
  takeSteps(document, others.length * sizeOf(some) + some.length * sizeOf(others));
  const both = some.flatMap((first) => others.map((second) => intersection(first, second)));
  return both.filter((form) => form.types === undefined || form.types.size > 0).slice(0, MAX_FORMS);
}

function sizeOf(forms: Forms): number {
  return forms.reduce((sum, { properties, required, values = [], constraints }) => {
    return sum + 1 + properties.size + required.size + values.length + constraints.length;
  }, 0);
}

function intersection(left: ResolvedSchema, right: ResolvedSchema): ResolvedSchema {
  const properties = new Map(left.properties);
  for (const [name, schema] of right.properties) {
    properties.set(name, properties.has(name) ? { allOf: [properties.get(name), schema] } : schema);
  }
  return {
    types: bothTypes(left.types, right.types),
    values: bothValues(left.values, right.values),
    properties,
    required: new Set([...left.required, ...right.required]),
    items: bothItems(left.items, right.items),
    closed: left.closed || right.closed,
    constraints: [...left.constraints, ...right.constraints],
  };
}

function bothItems(left: unknown, right: unknown): unknown {
  return left === undefined || right === undefined ? (left ?? right) : { allOf: [left, right] };
}

function bothTypes(left: ResolvedSchema['types'], right: ResolvedSchema['types']): ResolvedSchema['types'] {
  if (left === undefined || right === undefined) return left ?? right;
  const inBoth = [...left].filter((type) => covers(right, type));
  return new Set([...inBoth, ...[...right].filter((type) => covers(left, type))]);
}

function bothValues(left: ResolvedSchema['values'], right: ResolvedSchema['values']): ResolvedSchema['values'] {
  if (left === undefined || right === undefined) return left ?? right;
  const taken = new Set(right);
  return left.filter((value) => taken.has(value));
}

export function covers(types: ReadonlySet<JsonType>, type: JsonType): boolean {
  return types.has(type) || (type === 'integer' && types.has('number'));
}

/** @returns a clause such as `has at most 20 characters there`; undefined when a form accepts the value. */
export function refusalOf(forms: Forms, value: unknown): string | undefined {
  const typed = forms.filter((form) => takesType(form, value));
  const types = new Set(forms.flatMap((form) => [...(form.types ?? [])]));
  if (typed.length === 0) return `is of type ${[...types].join(' or ')} there`;
  const reasons = typed.map((form) => refusalByForm(form, value));
  return reasons.includes(undefined) ? undefined : reasons[0];
}

/** Other constraints of the form are not checked. */
export function takesType({ types }: ResolvedSchema, value: unknown): boolean {
  return types === undefined || covers(types, typeOf(value));
}

function refusalByForm({ values, constraints }: ResolvedSchema, value: unknown): string | undefined {
  if (values !== undefined && !values.includes(value)) return `is one of ${JSON.stringify(values)} there`;
  return brokenConstraint(constraints, value);
}
