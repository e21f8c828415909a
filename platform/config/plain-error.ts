import type * as z from 'zod';
import { counted } from '#domain/text.ts';

/**
 * Messages for errors of variables and settings that have no message of their own. Those of zod speak of types and
 * options of a program.
 *
 * @returns undefined for an error that the schemas of this folder cannot have.
 */
export function plainError(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${TYPES[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be ${oneOf(issue.values.map(String))}`;
    case 'too_small':
      return tooSmall(issue.origin, Number(issue.minimum));
    case 'too_big':
      return `must ${amount(issue.origin, Number(issue.maximum))} at most`;
    case 'invalid_format':
      return FORMATS[issue.format];
    default:
      return undefined;
  }
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map of names and values',
  record: 'a map of names and values',
};

const FORMATS: Readonly<Record<string, string>> = { email: 'must be an email address' };

function tooSmall(origin: string, minimum: number): string {
  return origin === 'string' && minimum === 1 ? 'must not be empty' : `must ${amount(origin, minimum)} or more`;
}

function amount(origin: string, count: number): string {
  if (origin === 'string') return `have ${counted(count, 'character')}`;
  return origin === 'array' ? `have ${counted(count, 'value')}` : `be ${count}`;
}

function oneOf(values: readonly string[]): string {
  return values.length > 2 ? `one of ${values.join(', ')}` : values.join(' or ');
}
