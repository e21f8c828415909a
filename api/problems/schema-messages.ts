/** Sentences for what a schema refuses without a message of its own: texts of the validator are not for our callers. */
import type * as z from 'zod';
import { counted } from '#domain/text.ts';

/** The types of JSON, as callers name them. */
const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
  null: 'null',
};

/** The message of an issue. It follows the name of the field, and never contains the value. */
export function schemaMessage(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return typed(String(issue.expected), issue.input);
    case 'invalid_value':
      return oneOf(issue.values.map(String));
    case 'too_big':
      return sized(issue.origin, 'at most', Number(issue.maximum));
    case 'too_small':
      return sized(issue.origin, 'at least', Number(issue.minimum));
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'unrecognized_keys':
      return 'is not a field of this request';
    default:
      return 'does not have the form that the API description shows';
  }
}

function typed(expected: string, input: unknown): string {
  const type = TYPES[expected] ?? 'of another type';
  return expected === 'int' && typeof input === 'number' ? `must be ${type}` : `must be ${type}, not ${typeOf(input)}`;
}

function oneOf(values: readonly string[]): string {
  const quoted = values.map((value) => `"${value}"`);
  return quoted.length === 1 ? `must be ${quoted[0]}` : `must be one of ${quoted.join(', ')}`;
}

function sized(origin: string, bound: 'at most' | 'at least', limit: number): string {
  if (origin === 'string') return `must have ${bound} ${counted(limit, 'character')}`;
  if (origin === 'array' || origin === 'set') return `must have ${bound} ${counted(limit, 'entry', 'entries')}`;
  if (origin === 'object' || origin === 'map' || origin === 'record')
    return `must have ${bound} ${counted(limit, 'field')}`;
  return `must be ${bound} ${limit}`;
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'boolean') return 'a boolean';
  return TYPES[typeof value] ?? 'nothing';
}
