import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { foundAfter, meetsSearch, packageSearch } from '#api/packages/package-search.ts';
import type { ServicePackage } from '#upstream/contract.ts';

const query = z.strictObject(packageSearch);
const SORTS = query.shape.sort.unwrap().options;

/** Few different values, so that many are equal. */
const oneOf = <Value>(...values: Value[]) => fc.constantFrom(...values);
const onePackage: fc.Arbitrary<ServicePackage> = fc.record({
  id: fc.integer({ min: 1, max: 10_000 }),
  name: oneOf('Europe 5 GB', 'EUROPE', 'Japan'),
  countries: oneOf(['DE', 'FR'], ['JP'], []),
  data_mb: oneOf(null, undefined, 500, 1_000),
  validity_days: oneOf(null, undefined, 7, 30),
  price_for_reseller: oneOf('1.00', '1', '9.5', '10'),
  currency: oneOf('EUR', 'USD'),
  available: fc.boolean(),
});
const packages = fc.uniqueArray(onePackage, { selector: ({ id }) => id, maxLength: 40 });
const idsOf = (items: readonly ServicePackage[]) => items.map(({ id }) => id);

describe('the list of packages', () => {
  it('shows each package once over all pages, in the same order as at once, for any order and filter', () => {
    fc.assert(
      fc.property(packages, oneOf(...SORTS), fc.integer({ min: 1, max: 7 }), fc.boolean(), (items, sort, limit, on) => {
        const search = query.parse({ sort, ...(on && { available: 'true' }) });
        const page = (after?: number) => foundAfter(items, search, after).slice(0, limit);
        const seen: number[] = [];
        for (let shown = page(); shown.length > 0; shown = page(seen.at(-1))) seen.push(...idsOf(shown));
        expect(seen).toEqual(
          idsOf(foundAfter(items, query.parse({ sort }), undefined).filter((each) => !on || each.available)),
        );
        expect(new Set(seen)).toEqual(new Set(idsOf(items.filter((each) => !on || each.available))));
        expect(new Set(seen).size).toBe(seen.length);
      }),
    );
  });

  it('continues by id after a package that is gone, and refuses to do so in another order', () => {
    const items = [1, 3].map((id) => ({ ...sample, id }));
    expect(idsOf(foundAfter(items, query.parse({}), 2))).toEqual([3]);
    expect(() => foundAfter(items, query.parse({ sort: 'price' }), 2)).toThrow('continues after a package');
  });

  it.each([
    ['price', [1, 2, 3, 4]],
    ['-price', [3, 1, 2, 4]],
    ['data', [2, 3, 1, 4]],
    ['-data', [1, 3, 2, 4]],
    ['days', [3, 1, 2, 4]],
    ['-days', [1, 2, 3, 4]],
  ] as const)('is ordered by %s, unknown values last', (sort, ids) => {
    const items: ServicePackage[] = [
      { ...sample, id: 4, currency: 'USD', price_for_reseller: '1', data_mb: undefined, validity_days: undefined },
      { ...sample, id: 3, price_for_reseller: '10', data_mb: 900, validity_days: 7 },
      { ...sample, id: 2, price_for_reseller: '9.50', data_mb: 100, validity_days: 30 },
      { ...sample, id: 1, price_for_reseller: '9.5', data_mb: null, validity_days: 30 },
    ];
    expect(idsOf(foundAfter(items, query.parse({ sort }), undefined))).toEqual(ids);
  });
});

const sample: ServicePackage = {
  id: 1,
  name: 'Europe 5 GB',
  countries: ['DE', 'FR'],
  data_mb: 5_120,
  validity_days: 30,
  price_for_reseller: '9.80',
  currency: 'EUR',
  available: true,
};

describe('a filter', () => {
  it.each<[Record<string, string>, Partial<ServicePackage>]>([
    [{ q: 'EUROPE 5' }, { name: 'Asia' }],
    [{ country: 'DE' }, { countries: ['FR'] }],
    [{ country: 'DE,FR' }, { countries: ['DE', 'ES'] }],
    [{ available: 'true' }, { available: false }],
    [{ unlimited: 'false' }, { data_mb: null }],
    [{ unlimited: 'false' }, { data_mb: undefined }],
    [{ min_data_mb: '5120' }, { data_mb: 5_119 }],
    [{ min_data_mb: '1' }, { data_mb: undefined }],
    [{ min_days: '30' }, { validity_days: 29 }],
    [{ min_days: '30' }, { validity_days: null }],
    [{ max_days: '30' }, { validity_days: 31 }],
    [{ currency: 'EUR' }, { currency: 'USD' }],
    [{ max_price: '9.8' }, { price_for_reseller: '9.801' }],
  ])('%j passes the sample and not one with %j', (search, change) => {
    expect(meetsSearch(sample, query.parse(search))).toBe(true);
    expect(meetsSearch({ ...sample, ...change }, query.parse(search))).toBe(false);
  });

  it('of countries counts each once, and takes at most fifty', () => {
    expect(query.parse({ country: 'DE,DE,FR' }).country).toEqual(['DE', 'FR']);
    expect(query.safeParse({ country: Array.from({ length: 51 }, () => 'DE').join(',') }).success).toBe(false);
  });

  it('of a minimum of data passes an unlimited package', () => {
    expect(meetsSearch({ ...sample, data_mb: null }, query.parse({ min_data_mb: '999999' }))).toBe(true);
  });
});
