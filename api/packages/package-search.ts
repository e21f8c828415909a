/** Filters and order of the list of packages. */
import * as z from 'zod';
import { countInQuery, itemFilter, itemSearch } from '#api/catalogue/item-search.ts';
import { country } from '#api/fields/country.ts';
import { flagInQuery } from '#api/fields/query.ts';
import type { PackageFilter } from '#db/catalogue/catalogue-pages.ts';
import { countriesOf, REGIONS } from '#domain/catalogue/catalogue.ts';

const SORTS = ['id', 'price', '-price', 'data', '-data', 'days', '-days'] as const;

/** More would be a list of the world, and each code is looked up in each package. */
const MAX_COUNTRIES = 50;

const countries = z
  .string()
  .refine((text) => text.split(',').every((each) => country.safeParse(each).success), {
    message: 'must be an ISO 3166-1 alpha-2 code in upper case, such as DE, or several, separated by commas',
  })
  .refine((text) => text.split(',').length <= MAX_COUNTRIES, {
    message: `must have at most ${MAX_COUNTRIES} codes`,
  })
  .transform((text) => [...new Set(text.split(','))])
  .optional()
  .meta({
    description: 'Only packages that are valid in each of these countries (ISO 3166-1 alpha-2).',
    example: ['DE', 'FR'],
    override: { type: 'array', items: { type: 'string', pattern: '^[A-Z]{2}$' }, minItems: 1, maxItems: MAX_COUNTRIES },
  });

/** The parameters that choose and order packages. */
export const packageSearch = {
  ...itemSearch('packages', 'europe'),
  country: countries,
  region: z
    .enum(REGIONS)
    .optional()
    .meta({
      description:
        'Only packages that are valid in at least one country of this region: ' +
        `${REGIONS.map((region) => `\`${region}\``).join(', ')}.`,
    }),
  unlimited: flagInQuery('`true`: only packages without a data limit; `false`: only packages with one.'),
  min_data_mb: countInQuery('Only packages with at least these megabytes, or without a data limit.'),
  max_data_mb: countInQuery('Only packages with at most these megabytes.'),
  sort: z
    .enum(SORTS)
    .default('id')
    .meta({
      description:
        'The order; `-` reverses it. Prices are ordered by currency first. Packages without a known value are last, ' +
        'and an unlimited package has the most data.',
    }),
};

/** The filter of a query. A value that the service does not say meets none. */
export function packageFilter(search: Omit<z.output<z.ZodObject<typeof packageSearch>>, 'sort'>): PackageFilter {
  return {
    ...itemFilter(search),
    countries: search.country,
    anyCountry: search.region && countriesOf(search.region),
    unlimited: search.unlimited,
    minDataMb: search.min_data_mb,
    maxDataMb: search.max_data_mb,
  };
}
