import * as z from 'zod';
import {
  currency,
  instant,
  instantJson,
  MAX_INTEGER,
  queryInteger,
  TEXT_PATTERN,
  timeInQuery,
  unsignedDecimal,
} from '#api/fields/fields.ts';
import { flagInQuery } from '#api/lists/lists.ts';
import type { ItemFilter, ItemOrder } from '#db/catalogue/catalogue-pages.ts';
import type { PackageRow } from '#db/catalogue/catalogue.ts';

export const countInQuery = (description: string) =>
  queryInteger(1, MAX_INTEGER)
    .optional()
    .meta({ description, override: { type: 'integer', minimum: 1, maximum: MAX_INTEGER } });

export function itemSearch(nouns: 'packages' | 'plans', example: string) {
  return {
    q: z
      .string()
      .min(1)
      .max(100)
      .regex(new RegExp(TEXT_PATTERN), 'must not contain the character U+0000')
      .optional()
      .meta({ description: `Only ${nouns} whose name contains this text, in upper or lower case.`, example }),
    available: flagInQuery(`\`true\`: only ${nouns} that the service sells now; \`false\`: only others.`),
    min_days: countInQuery(`Only ${nouns} for at least these days.`),
    max_days: countInQuery(`Only ${nouns} for at most these days.`),
    currency: currency.optional().meta({ description: `Only ${nouns} whose price is in this currency (ISO 4217).` }),
    min_price: unsignedDecimal.optional().meta({
      description: `Only ${nouns} whose \`price_for_reseller\` is at least this amount, in their own currency.`,
    }),
    max_price: unsignedDecimal.optional().meta({
      description: `Only ${nouns} whose \`price_for_reseller\` is at most this amount, in their own currency.`,
    }),
    updated_after: timeInQuery(
      `Only ${nouns} that changed after this time, exclusive. With the \`read_at\` of the first page of an earlier ` +
        'list: all changes since.',
    ),
    include_removed: flagInQuery(`\`true\`: also ${nouns} that the service no longer lists.`),
  };
}

export function itemFilter(search: z.output<z.ZodObject<ReturnType<typeof itemSearch>>>): ItemFilter {
  return {
    text: search.q,
    available: search.available,
    minDays: search.min_days,
    maxDays: search.max_days,
    currency: search.currency,
    minPrice: search.min_price,
    maxPrice: search.max_price,
    updatedAfter: search.updated_after,
    includeRemoved: search.include_removed,
  };
}

export function itemOrder<Field extends string>(sort: Field | `-${Field}`): ItemOrder<Field> {
  const isReversed = sort.startsWith('-');
  // The sign is all that the text may have beside the name.
  return { field: (isReversed ? sort.slice(1) : sort) as Field, isReversed };
}

export function itemIdOf(text: string): number | undefined {
  return /^(?:0|[1-9][0-9]{0,14})$/.test(text) ? Number(text) : undefined;
}

/** By our readings of the catalogue. */
export const itemTimes = {
  created_at: instant.meta({ description: 'When we first read it.', example: '2030-01-01T12:00:00.000Z' }),
  updated_at: instant.meta({ description: 'When we first read its present state.' }),
  removed_at: instant
    .nullable()
    .meta({ description: 'When we found that the service no longer lists it; null while it does.' }),
};

export function itemTimesJson(row: Pick<PackageRow, 'createdAt' | 'updatedAt' | 'removedAt'>) {
  return {
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    removed_at: instantJson(row.removedAt),
  };
}
