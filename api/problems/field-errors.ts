import type * as z from 'zod';
import type { FieldError } from '#api/problems/problem.ts';

/** Maximum number of errors in one answer. */
const MAX_ERRORS = 50;
const MAX_NAME = 100;

/**
 * The errors of a schema, field by field. They contain names of the request, never values, which may be an IMEI.
 *
 * @param input the checked value, to distinguish missing from invalid fields.
 */
export function fieldErrors(error: z.ZodError, where: FieldError['in'], input: unknown): FieldError[] {
  return error.issues.flatMap((issue) => errorsOf(issue, where, input)).slice(0, MAX_ERRORS);
}

function errorsOf(issue: z.core.$ZodIssue, where: FieldError['in'], input: unknown): FieldError[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      in: where,
      field: nameOf([...issue.path, key]),
      message: 'is not a known field',
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
