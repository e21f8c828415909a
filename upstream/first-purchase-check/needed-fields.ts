/** Finds fields that the contract marks as needed, although single answers may lack them. */
import type * as z from 'zod';
import { NEEDED_FOR, NEEDED_UNLESS } from '#upstream/contract.ts';

const at = (value: object, name: string): unknown => Reflect.get(value, name);

/** The marked fields that are empty and whose alternatives are all empty. */
export function missingFields(schema: z.ZodObject, value: object): string[] {
  const isEmpty = (name: string) => (at(value, name) ?? '') === '';
  return marked(schema).flatMap(([name, alternatives]) => {
    return isEmpty(name) && alternatives.every(isEmpty) ? [name] : [];
  });
}

/** The marked fields that are absent. A null is a value. */
export function absentFields(schema: z.ZodObject, value: object): string[] {
  return marked(schema).flatMap(([name]) => (at(value, name) === undefined ? [name] : []));
}

function marked(schema: z.ZodObject): (readonly [name: string, alternatives: readonly string[]])[] {
  return Object.entries(schema.shape).flatMap(([name, field]) => {
    const marks = (field as z.ZodType).meta() ?? {};
    const alternatives = marks[NEEDED_UNLESS];
    const names = Array.isArray(alternatives) ? alternatives.map(String) : [];
    return marks[NEEDED_FOR] === undefined ? [] : [[name, names] as const];
  });
}
