import * as z from 'zod';

/** A JSON value, in an answer or a schema. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: Json;
}

/** A part of an answer in a shape: its schema, and the conversion of the plain value. */
export interface Shaped {
  /** JSON Schema. */
  readonly schema: JsonObject;
  readonly value: (plain: Json) => Json;
}

const json = z.json();

/** Parses JSON text, or converts a value such as a schema to JSON. @throws SyntaxError when a text is not JSON. */
export function jsonFrom(source: unknown): Json {
  return json.parse(JSON.parse(typeof source === 'string' ? source : JSON.stringify(source)));
}

/** True for a JSON array. */
export function isArray(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** True for a JSON object. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !isArray(value);
}

/** The text of a field; empty when it is not a text. */
export function textAt(object: JsonObject, name: string): string {
  const value = object[name];
  return typeof value === 'string' ? value : '';
}

/** The object at a path of a document; an empty one when there is none. */
export function objectAt(value: Json, ...path: readonly string[]): JsonObject {
  let current: Json | undefined = value;
  for (const step of path) current = isObject(current) ? current[step] : undefined;
  return isObject(current) ? current : {};
}

/** Schema of an object that has all of these fields. */
export function objectSchema(properties: JsonObject): JsonObject {
  return { type: 'object', properties, required: Object.keys(properties) };
}

/** Adds null to the values of a schema. */
export function orNull(schema: JsonObject): JsonObject {
  return splitNull(schema).nullable ? schema : { anyOf: [schema, { type: 'null' }] };
}

/** Removes null from a schema, and tells whether it was allowed. */
export function splitNull(schema: JsonObject): { readonly inner: JsonObject; readonly nullable: boolean } {
  const { anyOf, type, ...rest } = schema;
  if (isArray(anyOf)) {
    const others = anyOf.filter((each) => !isObject(each) || each['type'] !== 'null');
    const [only] = others;
    if (others.length === anyOf.length) return { inner: schema, nullable: false };
    const inner = others.length === 1 && isObject(only) ? { ...rest, ...only } : { ...rest, anyOf: others };
    return { inner, nullable: true };
  }
  if (!isArray(type) || !type.includes('null')) return { inner: schema, nullable: false };
  const types = type.filter((each) => each !== 'null');
  return { inner: { ...rest, type: types.length === 1 ? (types[0] ?? null) : types }, nullable: true };
}
