import * as z from 'zod';

export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: Json;
}

export interface Shaped {
  readonly schema: JsonObject;
  readonly value: (plain: Json) => Json;
}

const json = z.json();

/** @throws SyntaxError */
export function jsonFrom(source: unknown): Json {
  return json.parse(JSON.parse(typeof source === 'string' ? source : JSON.stringify(source)));
}

export function isArray(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !isArray(value);
}

export function objectAt(value: Json, ...path: readonly string[]): JsonObject {
  let current: Json | undefined = value;
  for (const step of path) current = isObject(current) ? current[step] : undefined;
  return isObject(current) ? current : {};
}

/** All fields are required. */
export function objectSchema(properties: JsonObject): JsonObject {
  return { type: 'object', properties, required: Object.keys(properties) };
}

export function orNull(schema: JsonObject): JsonObject {
  return splitNull(schema).nullable ? schema : { anyOf: [schema, { type: 'null' }] };
}

/** Tells whether null was allowed. */
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
