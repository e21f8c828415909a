import * as z from 'zod';
import { type FieldError, PLACES, Problem } from '#api/problems/problem.ts';
import { didYouMean, suggestedNames } from '#api/problems/suggestions.ts';
import { counted } from '#domain/text.ts';
import { readJson } from '#upstream/client/json.ts';

/** Far above our deepest request, which has two levels. */
const MAX_DEPTH = 32;
/** Our largest request has 30, and metadata 20. */
export const MAX_NAMES = 200;
/** A batch of 1,000 items, each with all of its fields, has 30,000. */
export const MAX_VALUES = 50_000;

const UNREADABLE = {
  not_utf8: 'The body is not valid UTF-8.',
  not_json: 'The body is not valid JSON. Names and strings have double quotes, and no comma follows the last field.',
  duplicate_key: 'The body contains a field twice, so its meaning is ambiguous. Send it once.',
  too_deep: 'The body is nested too deeply.',
} as const;

/** A charset parameter is allowed; JSON is UTF-8 in any case. @throws Problem unsupported_media_type, malformed_json */
export function readJsonBody(bytes: Buffer, contentType: string | undefined): unknown {
  if (bytes.length === 0) throw new Problem('malformed_json', { detail: 'The body is empty. Send a JSON object.' });
  if (!/^application\/json\s*(?:;|$)/i.test(contentType ?? '')) {
    const found = contentType === undefined ? 'no Content-Type' : 'a Content-Type other than JSON';
    const detail = `The body has ${found}. Send \`Content-Type: application/json\`.`;
    throw new Problem('unsupported_media_type', { detail });
  }
  const json = readJson(bytes);
  if (!json.ok) throw new Problem('malformed_json', { detail: UNREADABLE[json.reason] });
  requireHarmless(json.value);
  return json.value;
}

/** Limits come before the checks of fields, which allocate for each name and value. Walks without recursion. */
function requireHarmless(root: unknown): void {
  let level: unknown[] = [root];
  let values = 0;
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH)
      throw new Problem('malformed_json', { detail: `The body is nested more than ${MAX_DEPTH} deep.` });
    const next: unknown[] = [];
    for (const value of level) {
      if (typeof value !== 'object' || value === null) continue;
      // Schemas ignore this name instead of refusing it.
      if (Object.hasOwn(value, '__proto__'))
        throw new Problem('malformed_json', { detail: 'The body has a field __proto__.' });
      const inner: unknown[] = Object.values(value);
      if (!Array.isArray(value) && inner.length > MAX_NAMES)
        throw new Problem('malformed_json', { detail: `An object of the body has more than ${MAX_NAMES} names.` });
      values += inner.length;
      if (values > MAX_VALUES)
        throw new Problem('malformed_json', {
          detail: `The body has more than ${MAX_VALUES.toLocaleString('en')} values. Send several smaller requests.`,
        });
      for (const each of inner) next.push(each);
    }
    level = next;
  }
}

/** A key of another form stays part of the name, which then is unknown. */
const PAIR = /^([a-z_]+)\[([A-Za-z0-9][^[\]]*)\]$/;

/** `deepObject` of OpenAPI: `name[key]=value`. */
function gatherPairs(schema: z.ZodObject, query: unknown): unknown {
  const others: [string, unknown][] = [];
  const pairs = new Map<string, [string, unknown][]>();
  for (const [written, value] of Object.entries(query ?? {})) {
    const [, name = '', key = ''] = PAIR.exec(written) ?? [];
    if (takesPairs(schema, name)) pairs.set(name, [...(pairs.get(name) ?? []), [key, value]]);
    else others.push([written, value]);
  }
  return Object.fromEntries([...[...pairs].map(([name, each]) => [name, Object.fromEntries(each)]), ...others]);
}

function pairName(schema: z.ZodObject, field: string): string {
  const [, name = '', key = ''] = /^([a-z_]+)\.(.+)$/s.exec(field) ?? [];
  return takesPairs(schema, name) ? `${name}[${key}]` : field;
}

function takesPairs(schema: z.ZodObject, name: string): boolean {
  const parameter: unknown = Object.hasOwn(schema.shape, name) ? schema.shape[name] : undefined;
  return (parameter instanceof z.ZodOptional ? parameter.unwrap() : parameter) instanceof z.ZodRecord;
}

const MAX_ERRORS = 50;
const MAX_NAME = 100;

function repeatedParameters(schema: z.ZodObject, query: unknown): FieldError[] {
  return Object.entries(query ?? {}).flatMap(([name, value]) => {
    if (!Array.isArray(value) || !Object.hasOwn(schema.shape, name.replace(/\[.*$/, ''))) return [];
    const commas = takesSeveral(schema.shape[name]) ? ', with commas between its values' : '';
    const message = `is given ${value.length} times; give it once${commas}`;
    return [{ in: 'query' as const, field: nameOf([name]), message }];
  });
}

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
      message: unknownName(key, known, PLACES[where]),
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

/** The validator's own texts are not for our callers. Follows the name of the field, and never contains the value. */
function schemaMessage(issue: z.core.$ZodRawIssue): string {
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

/** PostgreSQL cannot store a NUL, which the schema of a field may allow. */
export function refuseNul(query: unknown, errors: FieldError[]): void {
  for (const [field, value] of Object.entries(query ?? {})) {
    if (typeof value !== 'string' || !value.includes('\0')) continue;
    if (!errors.some((error) => error.in === 'query' && error.field === field))
      errors.push({ in: 'query', field, message: 'must not contain NUL' });
  }
}

/** A repeated parameter has one error. */
export function checkQuery(schema: z.ZodObject, input: unknown, errors: FieldError[]): unknown {
  const repeated = repeatedParameters(schema, input);
  const names = new Set(repeated.map(({ field }) => field));
  const found: FieldError[] = [];
  const value = check(schema, 'query', gatherPairs(schema, input), found);
  const others = found.map((error) => ({ ...error, field: pairName(schema, error.field) }));
  errors.push(...repeated, ...others.filter(({ field }) => !names.has(field)));
  return value;
}

/** Errors contain names of the request, never values, which may be an IMEI. */
export function check(schema: z.ZodObject, where: FieldError['in'], input: unknown, errors: FieldError[]): unknown {
  const result = schema.safeParse(input, { error: schemaMessage });
  if (result.success) return result.data;
  // A wrong name explains the missing one.
  const issues = result.error.issues.toSorted((left, right) => rank(left) - rank(right));
  const found: FieldError[] = [];
  for (const issue of issues) {
    found.push(...errorsOf(issue, where, input, schema));
    if (found.length >= MAX_ERRORS) break;
  }
  errors.push(...found.slice(0, MAX_ERRORS));
  return undefined;
}
