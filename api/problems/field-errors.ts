import * as z from 'zod';
import type { FieldError } from '#api/problems/problem.ts';
import { schemaMessage } from '#api/problems/schema-messages.ts';
import { didYouMean, suggestedNames } from '#api/problems/suggestions.ts';

/** Maximum number of errors in one answer. */
const MAX_ERRORS = 50;
const MAX_NAME = 100;
/** Words for the names in one place of a request. */
const NAMES = { body: 'field', query: 'parameter', path: 'parameter', header: 'header' } as const;

/**
 * Checks a part of a request.
 *
 * @returns the value, or its errors field by field. They contain names of the request, never values, which may be an
 *   IMEI.
 */
export function checkFields<Schema extends z.ZodObject>(
  schema: Schema,
  where: FieldError['in'],
  input: unknown,
): { readonly value: z.output<Schema>; readonly errors?: never } | { readonly errors: FieldError[] } {
  const result = schema.safeParse(input, { error: schemaMessage });
  if (result.success) return { value: result.data };
  // A wrong name explains the missing one.
  const issues = result.error.issues.toSorted((left, right) => rank(left) - rank(right));
  const errors: FieldError[] = [];
  for (const issue of issues) {
    errors.push(...errorsOf(issue, where, input, schema));
    if (errors.length >= MAX_ERRORS) break;
  }
  return { errors: errors.slice(0, MAX_ERRORS) };
}

/** Errors for query parameters that are given more than once. Their values are a list. */
export function repeatedParameters(schema: z.ZodObject, query: unknown): FieldError[] {
  return Object.entries(query ?? {}).flatMap(([name, value]) => {
    if (!Array.isArray(value) || !Object.hasOwn(schema.shape, name.replace(/\[.*$/, ''))) return [];
    const commas = takesSeveral(schema.shape[name]) ? ', with commas between its values' : '';
    const message = `is given ${value.length} times; give it once${commas}`;
    return [{ in: 'query' as const, field: nameOf([name]), message }];
  });
}

/** Whether a parameter takes several values, as `listOf` declares. */
function takesSeveral(schema: unknown): boolean {
  const inner = schema instanceof z.ZodOptional ? schema.unwrap() : schema;
  const override = inner instanceof z.ZodType ? inner.meta()?.['override'] : undefined;
  return typeof override === 'object' && override !== null && 'type' in override && override.type === 'array';
}

function rank({ code }: z.core.$ZodIssue): number {
  return code === 'unrecognized_keys' ? 0 : 1;
}

function errorsOf(issue: z.core.$ZodIssue, where: FieldError['in'], input: unknown, schema: z.ZodType): FieldError[] {
  if (issue.code === 'unrecognized_keys') {
    const known = fieldsAt(schema, issue.path);
    return issue.keys.slice(0, MAX_ERRORS).map((key) => ({
      in: where,
      field: nameOf([...issue.path, key]),
      message: unknownName(key, known, NAMES[where]),
    }));
  }
  const field = nameOf(issue.path);
  if (issue.code === 'invalid_key') {
    const [inner] = issue.issues;
    return [{ in: where, field, message: `is not a usable name: ${inner?.message ?? issue.message}` }];
  }
  if (field !== '' && valueAt(input, issue.path) === undefined) return [{ in: where, field, message: 'is required' }];
  return [{ in: where, field, message: issue.message }];
}

function unknownName(name: string, known: readonly string[], noun: string): string {
  const hint = didYouMean(suggestedNames(name, known));
  if (hint !== undefined) return `is not a known ${noun}; ${hint}`;
  if (known.length === 0) return `is not a known ${noun}; there is none here`;
  return `is not a known ${noun}; known are ${known.map((each) => `\`${each}\``).join(', ')}`;
}

/** Names of the fields of the object at a path of a schema. */
function fieldsAt(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  let at: unknown = schema;
  for (const key of path) {
    const inner = withoutWrappers(at);
    if (inner instanceof z.ZodObject) at = inner.shape[String(key)];
    else if (inner instanceof z.ZodArray) at = inner.element;
    else return [];
  }
  const object = withoutWrappers(at);
  return object instanceof z.ZodObject ? Object.keys(object.shape) : [];
}

/** The schema in `optional`, `nullable`, `default` and transformations. */
function withoutWrappers(schema: unknown): unknown {
  let at = schema;
  for (;;) {
    if (at instanceof z.ZodOptional || at instanceof z.ZodNullable || at instanceof z.ZodDefault) at = at.unwrap();
    else if (at instanceof z.ZodPipe) at = at.in;
    else return at;
  }
}

function nameOf(path: readonly PropertyKey[]): string {
  const name = path.map(String).join('.');
  return name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name;
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}
