/** Filters of lists that take several values. */
import * as z from 'zod';
import { ID_PREFIXES, idPattern, isId, type IdKind } from '#domain/work/identifiers.ts';

/** As many as a page can have, so that one call reads what belongs to a page of the caller's own. */
const MAX_VALUES = 100;

/**
 * Values in one parameter, separated by commas. A value that may contain a comma is also searched as a whole.
 *
 * @param form what each of them must be, in words and as a pattern.
 */
export function severalInQuery(
  isOne: (text: string) => boolean,
  { form, pattern, description }: Readonly<Record<'form' | 'pattern' | 'description', string>>,
) {
  return z
    .string()
    .transform((text) => {
      const values = text.split(',');
      return isOne(text) ? [...new Set([text, ...values.filter(isOne)])] : values;
    })
    .refine((values) => values.every(isOne), { message: `${form}; several are separated by commas`, abort: true })
    .refine((values) => values.length <= MAX_VALUES, { message: `must have at most ${MAX_VALUES} values` })
    .optional()
    .meta({
      description: `${description} Up to ${MAX_VALUES}, separated by commas.`,
      override: { type: 'array', items: { type: 'string', pattern }, minItems: 1, maxItems: MAX_VALUES },
    });
}

/** Ids of resources of one kind. */
export function idsInQuery(kind: IdKind) {
  return severalInQuery((text) => isId(kind, text), {
    form: `must have the form of an id of this list, which begins with \`${ID_PREFIXES[kind]}_\``,
    pattern: idPattern(kind),
    description: 'Only those with this id.',
  });
}
