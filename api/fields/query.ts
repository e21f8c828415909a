import * as z from 'zod';
import { queryInteger } from '#api/fields/numbers.ts';
import { didYouMean, suggestedNames } from '#api/problems/suggestions.ts';

/** Above every configurable wait. */
const MAX_WAIT_SECONDS = 3_600;

/** The wait of a long poll, in seconds. */
export const waitInQuery = queryInteger(0, MAX_WAIT_SECONDS)
  // `wait=0` means no wait.
  .transform((seconds) => (seconds === 0 ? undefined : seconds))
  .optional()
  .meta({
    description: 'Maximum wait in seconds, limited by the API (`waiting.max`, 50 by default).',
    override: { type: 'integer', minimum: 0, maximum: MAX_WAIT_SECONDS },
  });

/** A boolean in a query. */
export function flagInQuery(description: string) {
  return z
    .string()
    .refine((text) => text === 'true' || text === 'false', { message: 'must be true or false' })
    .transform((text) => text === 'true')
    .optional()
    .meta({ description, override: { type: 'boolean' } });
}

/** Values of a closed set in one parameter, separated by commas. */
export function listOf<Value extends string>(values: readonly [Value, ...Value[]]) {
  const isOne = (text: string): text is Value => (values as readonly string[]).includes(text);
  return z
    .string()
    .refine((text) => text.split(',').every(isOne), {
      error: ({ input }) => {
        const allowed = `must be one of ${values.join(', ')}, or several, separated by commas`;
        const unknown = String(input)
          .split(',')
          .find((text) => !isOne(text));
        const hint = unknown === undefined ? undefined : didYouMean(suggestedNames(unknown, values));
        return hint === undefined ? allowed : `${allowed}; ${hint}`;
      },
    })
    .transform((text) => text.split(',').filter(isOne))
    .meta({ override: { type: 'array', items: { type: 'string', enum: [...values] }, minItems: 1 } });
}
