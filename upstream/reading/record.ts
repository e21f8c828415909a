import * as z from 'zod';
import { isNotThereYet } from '#domain/service/fact.ts';
import { deliveredFactsOf, type Misstating } from '#upstream/contract/fields.ts';

export type ValueOf<Schema extends z.ZodType> = z.output<Schema> & Misstating;

export type ReadResult<Value> =
  | {
      readonly ok: true;
      readonly value: Value;
      readonly leftOut: readonly string[];
    }
  /** `lacking`: missing or unreadable needed fields, such as `id` or `status ("done")`. */
  | { readonly ok: false; readonly lacking: readonly string[] };

/** An unusable optional field or list item is dropped. An unusable needed field refuses the value. */
export function readRecord<Schema extends z.ZodType>(schema: Schema, stated: unknown): ReadResult<ValueOf<Schema>> {
  const facts = factsOf(schema);
  const value = facts.length === 0 ? stated : withoutPlaceholders(stated, facts);
  const direct = schema.safeParse(value);
  if (direct.success) return { ok: true, value: withMisstated<Schema>(direct.data, []), leftOut: [] };
  const leftOut = new Set<string>();
  let { issues } = direct.error;
  // So many issues are no small differences, and each costs time.
  if (issues.length > MOST_ISSUES)
    return { ok: false, lacking: namesOf(issues.slice(0, MOST_ISSUES).map(({ path }) => path)) };
  const rest = structuredClone(value);
  // Terminates: each round removes at least one part.
  for (;;) {
    const removable = issues.map(({ path }) => removableAt(schema, path));
    if (removable.includes(undefined)) {
      const spoiling = issues.filter((_issue, index) => removable[index] === undefined);
      return {
        ok: false,
        lacking: [...new Set(spoiling.map((issue) => nameOf(issue.path) + unknownValue(issue, rest)))],
      };
    }
    const paths = removable.filter((path) => path !== undefined);
    for (const path of inRemovalOrder(paths)) remove(rest, path);
    for (const name of namesOf(paths)) leftOut.add(name);
    const parsed = schema.safeParse(rest);
    if (parsed.success) {
      const misstated = facts.filter((name) =>
        [...leftOut].some((left) => left === name || left.startsWith(`${name}.`)),
      );
      return { ok: true, value: withMisstated<Schema>(parsed.data, misstated), leftOut: [...leftOut] };
    }
    ({ issues } = parsed.error);
  }
}

/** Kept: the contract is constant, and every answer needs this list. */
const FACTS = new WeakMap<z.ZodType, readonly string[]>();

function factsOf(schema: z.ZodType): readonly string[] {
  const facts = FACTS.get(schema) ?? deliveredFactsOf(schema);
  FACTS.set(schema, facts);
  return facts;
}

function withMisstated<Schema extends z.ZodType>(
  value: z.output<Schema>,
  misstated: readonly string[],
): ValueOf<Schema> {
  const read = misstated.length === 0 || !isHolder(value) ? value : { ...value, misstated };
  // The added field is optional, so every value of the schema is one.
  return read as ValueOf<Schema>;
}

/** A placeholder for a fact becomes null; placeholders among the parts of a fact are removed. */
function withoutPlaceholders(value: unknown, facts: readonly string[]): unknown {
  if (!isHolder(value)) return value;
  const filled = facts.flatMap((name): [string, unknown][] => {
    const fact: unknown = Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;
    if (fact === undefined) return [];
    if (isNotThereYet(fact)) return [[name, null]];
    if (!isHolder(fact) || Array.isArray(fact)) return [[name, fact]];
    return [
      [name, Object.fromEntries(Object.entries(fact).filter(([, part]) => part === null || !isNotThereYet(part)))],
    ];
  });
  const others = Object.entries(value).filter(([name]) => !facts.includes(name));
  return Object.fromEntries([...others, ...filled]);
}

const MOST_ISSUES = 1_000;

type Path = readonly PropertyKey[];

/** Only words that are not in the contract's list: operators need them to adapt the contract. */
function unknownValue({ code, path }: z.core.$ZodIssue, value: unknown): string {
  const word = path.reduce<unknown>((holder, key) => (isHolder(holder) ? Reflect.get(holder, key) : undefined), value);
  return code === 'invalid_value' && typeof word === 'string' && /^[a-z_]{1,32}$/.test(word) ? ` ("${word}")` : '';
}

function isHolder(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function removableAt(schema: z.ZodType, path: Path): Path | undefined {
  let current: z.ZodType = schema;
  let found: Path | undefined;
  for (const [index, key] of path.entries()) {
    const holder = bare(current);
    if (holder instanceof z.ZodObject) {
      const field: unknown = Object.hasOwn(holder.shape, key) ? Reflect.get(holder.shape, key) : undefined;
      if (!(field instanceof z.ZodType)) return found;
      if (field.safeParse(undefined).success) found = path.slice(0, index + 1);
      current = field;
    } else if (holder instanceof z.ZodArray && holder.element instanceof z.ZodType) {
      found = path.slice(0, index + 1);
      current = holder.element;
    } else {
      return found;
    }
  }
  return found;
}

function bare(schema: z.ZodType): z.ZodType {
  let current = schema;
  while (current instanceof z.ZodOptional || current instanceof z.ZodNullable || current instanceof z.ZodDefault) {
    const { innerType } = current.def;
    if (!(innerType instanceof z.ZodType)) return current;
    current = innerType;
  }
  return current;
}

/** Later items of a list first, so that the indexes of the others stay valid; each path once. */
function inRemovalOrder(paths: readonly Path[]): Path[] {
  const unique = new Map(paths.map((path) => [JSON.stringify(path), path]));
  return [...unique.values()].toSorted((left, right) => Number(right.at(-1)) - Number(left.at(-1)) || 0);
}

function remove(value: unknown, path: Path): void {
  const [key, ...inner] = path;
  if (!isHolder(value) || key === undefined) return;
  if (inner.length > 0) remove(Reflect.get(value, key), inner);
  else if (Array.isArray(value)) value.splice(Number(key), 1);
  else Reflect.deleteProperty(value, key);
}

function namesOf(paths: readonly Path[]): string[] {
  return [...new Set(paths.map(nameOf))];
}

function nameOf(path: Path): string {
  const name = path.map((key) => (typeof key === 'number' ? '[]' : `.${String(key)}`)).join('');
  return name === '' ? 'the object itself' : name.replace(/^\./, '');
}
