import { readJson } from '#upstream/client/json.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Own properties only: a document may name a field `constructor`. */
export function at(value: unknown, key: string): unknown {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

export function textAt(value: unknown, key: string): string | undefined {
  const text = at(value, key);
  return typeof text === 'string' ? text : undefined;
}

export function listAt(value: unknown, key: string): readonly unknown[] {
  const list = at(value, key);
  return Array.isArray(list) ? list : [];
}

export function entriesAt(value: unknown, key: string): readonly (readonly [string, unknown])[] {
  const object = at(value, key);
  return isObject(object) ? Object.entries(object) : [];
}

/** The message is a clause after "the file". */
export class UnreadableDocument extends Error {
  override readonly name = 'UnreadableDocument';
}

/** The message is a clause after the name of the part. */
export class NotComparable extends Error {
  override readonly name: string = 'NotComparable';
}

function unresolved(reference: string, reason: string): NotComparable {
  return new NotComparable(`refers to ${JSON.stringify(reference)}, which ${reason}`);
}

export function readDocument(bytes: Uint8Array): JsonObject {
  const json = readJson(bytes);
  if (!json.ok) throw new UnreadableDocument(NOT_JSON[json.reason]);
  const document = json.value;
  if (!isObject(document)) throw new UnreadableDocument('is JSON, but not an object');
  if (at(document, 'swagger') !== undefined) {
    throw new UnreadableDocument('is a Swagger 2 document; convert it to OpenAPI 3 first');
  }
  const version = at(document, 'openapi');
  if (version === undefined) throw new UnreadableDocument('has no field "openapi", so it is no OpenAPI document');
  if (typeof version !== 'string' || !/^3\.\d+\.\d+/.test(version)) {
    throw new UnreadableDocument(`says that it is OpenAPI ${JSON.stringify(version)}, and only version 3 is read`);
  }
  if (!isObject(at(document, 'paths'))) throw new UnreadableDocument('is an OpenAPI document without "paths"');
  return document;
}

const NOT_JSON = {
  not_utf8: 'is not UTF-8 text',
  not_json: 'is not JSON (of YAML, make JSON first)',
  duplicate_key: 'names a field twice in one object, so that it has no single meaning',
  too_deep: 'is nested too deeply',
} as const;

// A longer chain can only be a loop.
const MAX_CHAIN = 100;

/** Only references inside the document are followed: nothing is fetched. @throws NotComparable */
export function resolved(document: JsonObject, value: unknown): unknown {
  let current = value;
  for (let step = 0; step < MAX_CHAIN; step += 1) {
    const reference = textAt(current, '$ref');
    if (reference === undefined) return current;
    current = target(document, reference);
  }
  throw unresolved(textAt(value, '$ref') ?? '', 'leads only to itself');
}

export function target(document: JsonObject, reference: string): unknown {
  if (!reference.startsWith('#')) {
    throw unresolved(reference, 'is outside of the file; bundle everything into one document');
  }
  const pointer = decodedFragment(reference);
  if (pointer !== '' && !pointer.startsWith('/')) throw unresolved(reference, 'is not a JSON pointer');
  let current: unknown = document;
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    current = Array.isArray(current) && /^\d+$/.test(key) ? (current as unknown[])[Number(key)] : at(current, key);
    if (current === undefined) throw unresolved(reference, 'is not in the document');
  }
  return current;
}

function decodedFragment(reference: string): string {
  try {
    return decodeURIComponent(reference.slice(1));
  } catch {
    return reference.slice(1);
  }
}

/** It would take too many steps to compare. */
export class NestedTooDeeply extends NotComparable {
  override readonly name = 'NestedTooDeeply';

  constructor() {
    super('is nested too deeply to be compared');
  }
}

// A step resolves one schema or combines one field. Whole interfaces need far fewer.
const MAX_STEPS = 2_000_000;

const STEPS_LEFT = new WeakMap<JsonObject, number>();

export function resetSteps(document: JsonObject): void {
  STEPS_LEFT.set(document, MAX_STEPS);
}

/** @throws NestedTooDeeply */
export function takeSteps(document: JsonObject, steps: number): void {
  const left = (STEPS_LEFT.get(document) ?? MAX_STEPS) - steps;
  STEPS_LEFT.set(document, left);
  if (left < 0) throw new NestedTooDeeply();
}
