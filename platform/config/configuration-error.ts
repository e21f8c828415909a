import type * as z from 'zod';
import { counted } from '#domain/text.ts';

/** `EX_CONFIG` of sysexits. */
export const EXIT_CONFIGURATION = 78;

/** It contains no value of a variable, which may be a secret. */
export interface ConfigurationProblem {
  /** The variable or setting; empty for the policy file as a whole. */
  readonly name: string;
  readonly message: string;
  readonly place?: Place;
}

/** Lines and columns count from 1. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** One line, such as `policy.yaml:3:12: retry.hold_delay: must be a duration`. */
export function problemText({ name, message, place }: ConfigurationProblem): string {
  const where = place === undefined ? '' : `${place.file}:${place.line}:${place.column}: `;
  if (name === '') return `${where}${message}`;
  return `${where}${name}${/^(is|has) /.test(message) ? '' : ':'} ${message}`;
}

export class ConfigurationError extends Error {
  readonly problems: readonly ConfigurationProblem[];

  constructor(problems: readonly ConfigurationProblem[], document = 'docs/configuration.md') {
    const single = new Map(problems.map((problem) => [problemText(problem), problem]));
    const lines = [...single.keys()].map((text) => `  - ${text}`);
    super(`The configuration is not usable:\n${lines.join('\n')}\nSee ${document}.`);
    this.name = 'ConfigurationError';
    this.problems = [...single.values()];
  }

  static of(name: string, message: string): ConfigurationError {
    return new ConfigurationError([{ name, message }]);
  }
}

export function exitOnConfigurationError<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(EXIT_CONFIGURATION);
  }
}

/** The messages of zod speak of types of a program. Undefined for an error that our schemas cannot have. */
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
      return issue.format === 'email' ? 'must be an email address' : undefined;
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
