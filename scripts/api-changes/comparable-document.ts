import { createHash } from 'node:crypto';
import { OPEN_SET } from '#api/openapi/open-sets.ts';

/** Keywords that explain, and do not change what a client may send or receive. */
const EXPLAINING = new Set([
  'description',
  'summary',
  'example',
  'examples',
  'title',
  'externalDocs',
  'tags',
  'headers',
]);
/** The call whose description keeps the schema of problems; all others have the same one. */
const PROBLEM_CALL = '/v1/key';
/** Objects whose keys are names of the API, not keywords. */
const NAMED = new Set(['properties', 'schemas', 'paths']);

/**
 * The part of the description of the API that a client depends on, in a form that does not depend on how sets are
 * described.
 */
export function comparableDocument(document: unknown): unknown {
  return reduced(document, []);
}

/** Identifies the content of a comparable document. */
export function fingerprint(comparable: unknown): string {
  return createHash('sha256').update(JSON.stringify(comparable)).digest('hex').slice(0, 16);
}

function reduced(value: unknown, path: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((each) => reduced(each, path));
  if (typeof value !== 'object' || value === null) return value;
  const isNamed = NAMED.has(path.at(-1) ?? '');
  const entries = Object.entries(value).filter(([key, each]) => isNamed || isKept(key, each, path));
  const result = Object.fromEntries(
    entries.map(([key, each]) => [!isNamed && key === OPEN_SET ? 'enum' : key, reduced(each, [...path, key])]),
  );
  const { type } = result;
  // The same in one form: a choice of types.
  if (Array.isArray(type) && Object.keys(result).length === 1)
    return { anyOf: type.map((each: unknown) => ({ type: each })) };
  // OpenAPI requires a description of each answer.
  if (path.at(-2) === 'responses') result['description'] = '';
  return result;
}

function isKept(key: string, value: unknown, path: readonly string[]): boolean {
  if (EXPLAINING.has(key) && !(path.length === 1 && path[0] === 'info')) return false;
  if (key === 'application/problem+json') return path[1] === PROBLEM_CALL;
  if (value === Number.MAX_SAFE_INTEGER || value === Number.MIN_SAFE_INTEGER) return false;
  return key === OPEN_SET || !key.startsWith('x-');
}
