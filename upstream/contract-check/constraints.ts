import { Script, createContext } from 'node:vm';
import { counted } from '#domain/text.ts';
import { at, textAt } from '#upstream/contract-check/document.ts';

export interface Constraint {
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly multipleOf?: number;
}

const NUMBERS = ['minLength', 'maxLength', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'];

export function constraintsOf(schema: unknown): readonly Constraint[] {
  const found: Record<string, string | number> = {};
  for (const keyword of ['format', 'pattern']) {
    const text = textAt(schema, keyword);
    if (text !== undefined) found[keyword] = text;
  }
  for (const keyword of NUMBERS) {
    const number = at(schema, keyword);
    if (typeof number === 'number') found[keyword] = number;
  }
  // In OpenAPI 3.0 this keyword is a flag: it excludes the bound beside it.
  for (const [flag, bound] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    const limit = found[bound];
    if (at(schema, flag) === true && limit !== undefined) found[flag] = limit;
  }
  return Object.keys(found).length === 0 ? [] : [found];
}

/** @returns a clause after the name of the field. */
export function brokenConstraint(constraints: readonly Constraint[], value: unknown): string | undefined {
  for (const constraint of constraints) {
    const ofText = typeof value === 'string' ? brokenByText(constraint, value) : undefined;
    const broken = typeof value === 'number' ? brokenByNumber(constraint, value) : ofText;
    if (broken !== undefined) return broken;
  }
  return undefined;
}

function brokenByText(constraint: Constraint, text: string): string | undefined {
  const { format, pattern, minLength = 0, maxLength = Infinity } = constraint;
  const { length } = Array.from(text);
  if (length < minLength) return `has at least ${counted(minLength, 'character')} there`;
  if (length > maxLength) return `has at most ${counted(maxLength, 'character')} there`;
  if (pattern !== undefined && matches(pattern, text) === false) return `matches ${pattern} there`;
  const form = format === undefined ? undefined : FORMATS.get(format.toLowerCase());
  return form === undefined || form.test(text) ? undefined : `has the format ${format} there`;
}

function brokenByNumber(constraint: Constraint, number: number): string | undefined {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = constraint;
  if (exclusiveMinimum !== undefined && number <= exclusiveMinimum) return `is above ${exclusiveMinimum} there`;
  if (exclusiveMaximum !== undefined && number >= exclusiveMaximum) return `is below ${exclusiveMaximum} there`;
  if (minimum !== undefined && number < minimum) return `is at least ${minimum} there`;
  if (maximum !== undefined && number > maximum) return `is at most ${maximum} there`;
  if (multipleOf !== undefined && !isMultiple(number, multipleOf)) return `is a multiple of ${multipleOf} there`;
  return undefined;
}

/** Tolerates rounding: 12.5 / 0.01 is not a whole number in binary floating point. */
function isMultiple(number: number, unit: number): boolean {
  if (!(unit > 0)) return true;
  const quotient = number / unit;
  return Math.abs(quotient - Math.round(quotient)) < 1e-6;
}

const TIME = String.raw`[Tt ]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:?\d{2})`;

const FORMATS: ReadonlyMap<string, RegExp> = new Map([
  ['uuid', /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i],
  ['ulid', /^[0-7][0-9a-hjkmnp-tv-z]{25}$/i],
  ['date-time', new RegExp(String.raw`^\d{4}-\d{2}-\d{2}${TIME}$`)],
  ['date', /^\d{4}-\d{2}-\d{2}$/],
  ['time', /^\d{2}:\d{2}/],
  ['email', /^[^@\s]+@[^@\s]+$/],
  ['uri', /^[a-z][a-z0-9+.-]*:\S+$/i],
  ['url', /^[a-z][a-z0-9+.-]*:\S+$/i],
  ['byte', /^[A-Za-z0-9+/]+=*$/],
  ['base64', /^[A-Za-z0-9+/]+=*$/],
  ['ipv4', /^\d{1,3}(?:\.\d{1,3}){3}$/],
]);

const MAX_PATTERN = 2_000;
// Stops exponential backtracking. A match takes microseconds, but a busy machine may delay it.
const MAX_MS = 5_000;

const TEST = new Script('new RegExp(pattern, flags).test(text)');
const context = createContext({});

// Results are kept: a time limit costs more than the match itself.
const MAX_KNOWN = 10_000;
const known = new Map<string, boolean | undefined>();
/** Patterns that took too long: each further text would take as long. */
const endless = new Set<string>();

/** @returns undefined when that is unknown: no regular expression, too long, or too slow. */
export function matches(pattern: string, text: string): boolean | undefined {
  if (pattern.length > MAX_PATTERN || endless.has(pattern)) return undefined;
  const key = JSON.stringify([pattern, text]);
  if (known.has(key)) return known.get(key);
  if (known.size >= MAX_KNOWN) known.clear();
  const result = tested(pattern, text);
  known.set(key, result);
  return result;
}

function tested(pattern: string, text: string): boolean | undefined {
  for (const flags of ['u', '']) {
    try {
      Object.assign(context, { pattern, flags, text });
      return TEST.runInContext(context, { timeout: MAX_MS }) === true;
    } catch (error) {
      // Not an instance of our `Error`: it was made in the other context.
      if (at(error, 'code') === 'ERR_SCRIPT_EXECUTION_TIMEOUT') {
        endless.add(pattern);
        return undefined;
      }
      // Without the flag `u`: many patterns escape characters that the flag does not allow.
    }
  }
  return undefined;
}
