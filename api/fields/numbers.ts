import * as z from 'zod';

/** Maximum of PostgreSQL's `integer`; the service's package ids are far below. */
export const MAX_INTEGER = 2_147_483_647;

/** A whole number in a body, from `least` to `most`. */
export function wholeNumber(least: number, most: number) {
  const range = `must be from ${least} to ${most}`;
  return z.int().min(least, range).max(most, range);
}

/** A whole number in a query, from `min` to `max`. */
export function queryInteger(min: number, max: number) {
  const message = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^[0-9]{1,10}$/, message)
    .transform(Number)
    .refine((value) => value >= min && value <= max, { message })
    .meta({ override: { type: 'integer', minimum: min, maximum: max } });
}
