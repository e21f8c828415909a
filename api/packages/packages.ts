import * as z from 'zod';
import {
  countInQuery,
  itemFilter,
  itemIdOf,
  itemOrder,
  itemSearch,
  itemTimes,
  itemTimesJson,
} from '#api/catalogue/catalogue-items.ts';
import type { StoredCatalogue } from '#api/catalogue/stored-catalogue.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import { ageOf, country, freshness, money, packageId, priceForReseller, usd } from '#api/fields/fields.ts';
import { jsonAnswer, type Operation, operation } from '#api/http/operation.ts';
import { jsonReply } from '#api/http/reply.ts';
import { sortedCursor } from '#api/lists/cursor.ts';
import { flagInQuery, pageQuery, pageReply, pageShape } from '#api/lists/lists.ts';
import { listedPrice, pricedPackage, suggestedPriceField, suggestedPriceJson } from '#api/pricing/suggested-price.ts';
import { requireFound } from '#api/problems/problem.ts';
import { findPackage, type PackageFilter, pageOfPackages, SORTING_KEYS } from '#db/catalogue/catalogue-pages.ts';
import type { PackageRow } from '#db/catalogue/catalogue.ts';
import { countriesOf, REGIONS } from '#domain/catalogue/catalogue.ts';
import { plainAmount, plainMoney } from '#domain/money/money.ts';
import type { PricingRule } from '#domain/pricing/pricing-rule.ts';
import { rulesInForce } from '#fulfilment/pricing/pricing-rules.ts';
import type { ServicePackage } from '#upstream/contract.ts';

export const topupOption = z
  .strictObject({
    id: packageId,
    name: z.string().meta({ example: 'Europe 5 GB' }),
    countries: z.array(z.string()).meta({ description: 'ISO 3166-1 alpha-2 codes.', example: ['DE', 'FR'] }),
    data_mb: z
      .number()
      .nullable()
      .meta({ description: 'Megabytes; null when it is unlimited or not known.', example: 5_120 }),
    unlimited: z
      .boolean()
      .nullable()
      .meta({ description: 'Has no data limit; null when the service does not say.', example: false }),
    validity_days: z.int().nullable().meta({ example: 30 }),
    price_for_reseller: priceForReseller('9.80'),
    available: z.boolean().meta({ description: 'False while the service does not sell it.', example: true }),
    public_price: money.nullable().meta({
      description: 'Public price at the service, to compare a margin with; null when the service does not show it.',
      example: usd('14.99'),
    }),
    suggested_price: suggestedPriceField,
  })
  .meta({ id: 'TopupOption' });

const packageOutput = z.strictObject({ ...topupOption.shape, ...itemTimes }).meta({ id: 'Package' });

export function topupOptionJson(each: ServicePackage, rules: readonly PricingRule[]): z.input<typeof topupOption> {
  return {
    id: each.id,
    name: each.name,
    countries: each.countries,
    data_mb: each.data_mb ?? null,
    unlimited: each.data_mb === undefined ? null : each.data_mb === null,
    validity_days: each.validity_days ?? null,
    price_for_reseller: { amount: plainAmount(each.price_for_reseller), currency: each.currency },
    available: each.available,
    public_price: null,
    suggested_price: suggestedPriceJson(pricedPackage(listedPrice(each)), rules),
  };
}

function storedPackageJson(row: PackageRow, rules: readonly PricingRule[]): z.input<typeof packageOutput> {
  const price = { amount: row.priceAmount, currency: row.priceCurrency };
  return {
    id: row.id,
    name: row.name,
    countries: row.countries,
    data_mb: row.dataMb,
    unlimited: row.unlimited,
    validity_days: row.days,
    price_for_reseller: { amount: plainAmount(price.amount), currency: price.currency },
    available: row.available,
    public_price: plainMoney(row.publicPriceAmount, row.publicPriceCurrency),
    suggested_price: suggestedPriceJson(pricedPackage({ id: row.id, countries: row.countries, price }), rules),
    ...itemTimesJson(row),
  };
}

/** Each code is looked up in each package. */
const MAX_COUNTRIES = 50;

const countries = z
  .string()
  .refine((text) => text.split(',').every((each) => country.safeParse(each).success), {
    message: 'must be an ISO 3166-1 alpha-2 code in upper case, such as DE, or several, separated by commas',
  })
  .refine((text) => text.split(',').length <= MAX_COUNTRIES, { message: `must have at most ${MAX_COUNTRIES} codes` })
  .transform((text) => [...new Set(text.split(','))])
  .optional()
  .meta({
    description: 'Only packages that are valid in each of these countries (ISO 3166-1 alpha-2).',
    example: ['DE', 'FR'],
    override: { type: 'array', items: { type: 'string', pattern: '^[A-Z]{2}$' }, minItems: 1, maxItems: MAX_COUNTRIES },
  });

const packageSearch = {
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
    .enum(['id', 'price', '-price', 'data', '-data', 'days', '-days'])
    .default('id')
    .meta({
      description:
        'The order; `-` reverses it. Prices are ordered by currency first. Packages without a known value are last, ' +
        'and an unlimited package has the most data.',
    }),
};

/** A value that the service does not say meets no filter. */
function packageFilter(search: Omit<z.output<z.ZodObject<typeof packageSearch>>, 'sort'>): PackageFilter {
  return {
    ...itemFilter(search),
    countries: search.country,
    anyCountry: search.region && countriesOf(search.region),
    unlimited: search.unlimited,
    minDataMb: search.min_data_mb,
    maxDataMb: search.max_data_mb,
  };
}

const packagePage = z.strictObject({ ...pageShape(packageOutput), ...freshness }).meta({ id: 'PackagePage' });

const packageWithAge = z.strictObject({ ...packageOutput.shape, ...freshness }).meta({ id: 'PackageWithAge' });

export function packageOperations({ database, now }: ApiDependencies, catalogue: StoredCatalogue): Operation[] {
  return [
    operation('GET /v1/packages', {
      id: 'listPackages',
      summary: 'List packages with their prices and your suggested prices',
      description:
        'As last read from the service, every five minutes by default; also while the service cannot be reached. ' +
        '`read_at` and `age_seconds` tell how old they are. The filters are combined. A cursor continues a list with ' +
        'the same filters and the same order.',
      scope: 'packages:read',
      query: z.strictObject({ ...packageSearch, ...pageQuery }),
      answers: { 200: jsonAnswer('A page of packages.', packagePage) },
      problems: ['service_failed', 'service_unavailable', 'service_timeout'],
      handle: async ({ query }) => {
        const order = itemOrder(query.sort);
        const readAt = await catalogue.readAt('packages');
        const rules = await database.run(rulesInForce);
        return pageReply(
          query,
          sortedCursor('p', query.sort, SORTING_KEYS[order.field]),
          (at) => database.run((db) => pageOfPackages(db, packageFilter(query), order, at)),
          ({ row }) => storedPackageJson(row, rules),
          ageOf(readAt, now()),
        );
      },
    }),
    operation('GET /v1/packages/{id}', {
      id: 'getPackage',
      summary: 'Read a package with its price and your suggested price',
      description: 'As last read from the service. A package that the service no longer lists has `removed_at`.',
      scope: 'packages:read',
      params: z.strictObject({ id: z.string().meta({ description: 'Id of the package.', example: '1001' }) }),
      answers: { 200: jsonAnswer('The package.', packageWithAge) },
      problems: ['package_not_found', 'service_failed', 'service_unavailable', 'service_timeout'],
      handle: async ({ params }) => {
        const readAt = await catalogue.readAt('packages');
        const id = itemIdOf(params.id);
        const stored = id === undefined ? undefined : await database.run((db) => findPackage(db, id));
        const found = requireFound(stored, 'package_not_found');
        const rules = await database.run(rulesInForce);
        return jsonReply(200, { ...storedPackageJson(found, rules), ...ageOf(readAt, now()) });
      },
    }),
  ];
}
