/** Filters and order of the list of packages. */
import * as z from 'zod';
import { country } from '#api/fields/country.ts';
import { currency, unsignedDecimal } from '#api/fields/money.ts';
import { MAX_INTEGER, queryInteger } from '#api/fields/numbers.ts';
import { flagInQuery } from '#api/fields/query.ts';
import { invalid } from '#api/http/operation.ts';
import { compareMoney } from '#domain/money/money.ts';
import type { ServicePackage } from '#upstream/contract.ts';

const SORTS = ['id', 'price', '-price', 'data', '-data', 'days', '-days'] as const;
type Sort = (typeof SORTS)[number];

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

const wholeNumber = (description: string) =>
  queryInteger(1, MAX_INTEGER)
    .optional()
    .meta({ description, override: { type: 'integer', minimum: 1, maximum: MAX_INTEGER } });

/** The parameters that choose and order packages. */
export const packageSearch = {
  q: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .meta({ description: 'Only packages whose name contains this text, in upper or lower case.', example: 'europe' }),
  country: countries,
  available: flagInQuery('`true`: only packages that the service sells now; `false`: only others.'),
  unlimited: flagInQuery('`true`: only packages without a data limit; `false`: only packages with one.'),
  min_data_mb: wholeNumber('Only packages with at least these megabytes, or without a data limit.'),
  min_days: wholeNumber('Only packages that are valid for at least these days.'),
  max_days: wholeNumber('Only packages that are valid for at most these days.'),
  currency: currency.optional().meta({ description: 'Only packages whose price is in this currency (ISO 4217).' }),
  max_price: unsignedDecimal
    .optional()
    .meta({ description: 'Only packages whose `price_for_reseller` is at most this amount, in their own currency.' }),
  sort: z
    .enum(SORTS)
    .default('id')
    .meta({
      description:
        'The order; `-` reverses it. Prices are ordered by currency first. Packages without a known value are last, ' +
        'and an unlimited package has the most data.',
    }),
};

export type PackageSearch = z.output<z.ZodObject<typeof packageSearch>>;

/** True if a package meets all filters. A value that the service does not say meets none. */
export function meetsSearch(each: ServicePackage, search: PackageSearch): boolean {
  const { data_mb: dataMb, validity_days: days } = each;
  const { q, country: wanted = [], available, unlimited, min_data_mb: minData, max_price: maxPrice } = search;
  const { min_days: minDays, max_days: maxDays, currency: priced } = search;
  return (
    (q === undefined || each.name.toLowerCase().includes(q.toLowerCase())) &&
    wanted.every((code) => each.countries.includes(code)) &&
    (available === undefined || each.available === available) &&
    (unlimited === undefined || (dataMb !== undefined && (dataMb === null) === unlimited)) &&
    (minData === undefined || dataMb === null || (dataMb !== undefined && dataMb >= minData)) &&
    (minDays === undefined || (days != null && days >= minDays)) &&
    (maxDays === undefined || (days != null && days <= maxDays)) &&
    (priced === undefined || each.currency === priced) &&
    (maxPrice === undefined || compareMoney(priceOf(each), { amount: maxPrice, currency: each.currency }) <= 0)
  );
}

/**
 * The packages that meet a search, after a package, in the order of the search.
 *
 * @param after id of the last package of the page before; undefined: from the first one.
 * @throws Problem validation_failed if the order needs a value of that package, and the service does not list it any
 * more.
 */
export function foundAfter<Item extends ServicePackage>(
  items: readonly Item[],
  search: PackageSearch,
  after: number | undefined,
): Item[] {
  const { sort } = search;
  const compare = comparator(sort);
  const chosen = items.filter((each) => meetsSearch(each, search));
  if (after === undefined) return chosen.toSorted(compare);
  if (sort === 'id') return chosen.filter(({ id }) => id > after).toSorted(compare);
  const last = items.find(({ id }) => id === after);
  if (last === undefined) {
    const message = 'continues after a package that the service does not list any more; begin again without it';
    throw invalid([{ in: 'query', field: 'cursor', message }]);
  }
  return chosen.filter((each) => compare(each, last) > 0).toSorted(compare);
}

function comparator(sort: Sort): (one: ServicePackage, other: ServicePackage) => number {
  const sign = sort.startsWith('-') ? -1 : 1;
  const by = COMPARATORS[sort.replace('-', '') as keyof typeof COMPARATORS];
  return (one, other) => by(one, other, sign) || one.id - other.id;
}

type Compare = (one: ServicePackage, other: ServicePackage, sign: number) => number;

const byNumber =
  (value: (of: ServicePackage) => number | undefined): Compare =>
  (one, other, sign) => {
    const [left, right] = [value(one), value(other)];
    if (left === undefined || right === undefined) return Number(left === undefined) - Number(right === undefined);
    return left === right ? 0 : sign * (left < right ? -1 : 1);
  };

const COMPARATORS: Readonly<Record<'id' | 'price' | 'data' | 'days', Compare>> = {
  id: (one, other) => one.id - other.id,
  price: (one, other, sign) => {
    if (one.currency !== other.currency) return one.currency < other.currency ? -1 : 1;
    return sign * compareMoney(priceOf(one), priceOf(other));
  },
  data: byNumber(({ data_mb: dataMb }) => (dataMb === null ? Infinity : dataMb)),
  days: byNumber(({ validity_days: days }) => days ?? undefined),
};

function priceOf({ price_for_reseller: amount, currency: of }: ServicePackage) {
  return { amount, currency: of };
}
