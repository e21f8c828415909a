import * as z from 'zod';
import { queryInteger } from '#api/fields/numbers.ts';

const DEFAULT_LIMIT = 20;

const MAX_LIMIT = 100;

/** Size and start of a page. */
export const pageQuery = {
  limit: queryInteger(1, MAX_LIMIT)
    .default(DEFAULT_LIMIT)
    .meta({
      description: `Maximum number of items, 1 to ${MAX_LIMIT}.`,
      override: { type: 'integer', minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT },
    }),
  cursor: z
    .string()
    .max(200)
    .optional()
    .meta({ description: '`next_cursor` of the previous page; omit it for the first page.' }),
};

/** The fields of a page of a list. */
export function pageShape<Item extends z.ZodType>(item: Item) {
  return {
    data: z.array(item),
    next_cursor: z
      .string()
      .nullable()
      .meta({ description: 'Value of `cursor` for the next page; null on the last page.' }),
  };
}

/** A page of a list that has no further fields. */
export function pageOf<Item extends z.ZodType>(item: Item, id: string) {
  return z.strictObject(pageShape(item)).meta({ id });
}
