import * as z from 'zod';
import { itemIdOf, itemOrder } from '#api/catalogue/item-search.ts';
import type { StoredCatalogue } from '#api/catalogue/stored-catalogue.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import { ageOf, freshness } from '#api/fields/freshness.ts';
import { type Operation, operation, jsonAnswer } from '#api/http/operation.ts';
import { jsonReply } from '#api/http/reply.ts';
import { readSortedCursor, sortedCursor } from '#api/lists/cursor.ts';
import { pageReply } from '#api/lists/page-reply.ts';
import { pageQuery, pageShape } from '#api/lists/page-schemas.ts';
import { packageOutput, storedPackageJson } from '#api/packages/package-schemas.ts';
import { packageFilter, packageSearch } from '#api/packages/package-search.ts';
import { Problem } from '#api/problems/problem.ts';
import { findPackage, pageOfPackages, SORTING_KEYS } from '#db/catalogue/catalogue-pages.ts';
import { rulesInForce } from '#db/money/pricing-rules.ts';

const tag = 'Packages';

const packagePage = z.strictObject({ ...pageShape(packageOutput), ...freshness }).meta({ id: 'PackagePage' });

const packageWithAge = z.strictObject({ ...packageOutput.shape, ...freshness }).meta({ id: 'PackageWithAge' });

/** Packages of the service, as last read. */
export function packageOperations({ database, now }: ApiDependencies, catalogue: StoredCatalogue): Operation[] {
  return [
    operation({
      id: 'listPackages',
      method: 'get',
      path: '/v1/packages',
      tag,
      summary: 'List packages with their prices and your suggested prices',
      description:
        'As last read from the service, every five minutes by default; also while the service cannot be reached. ' +
        '`read_at` and `age_seconds` tell how old they are. The filters are combined. A cursor continues a list with ' +
        'the same filters and the same order.',
      scope: 'packages:read',
      query: z.strictObject({ ...packageSearch, ...pageQuery }),
      answers: {
        200: jsonAnswer('A page of packages.', packagePage),
      },
      problems: ['service_failed', 'service_unavailable', 'service_timeout'],
      handle: async ({ query: { limit, cursor, sort, ...search } }) => {
        const order = itemOrder(sort);
        const types = SORTING_KEYS[order.field];
        const after = cursor === undefined ? undefined : readSortedCursor('p', sort, types, cursor);
        const readAt = await catalogue.readAt('packages');
        const page = { limit: limit + 1, after };
        const found = await database.run((db) => pageOfPackages(db, packageFilter(search), order, page));
        const rules = await database.run(rulesInForce);
        return pageReply(found, limit, {
          json: ({ row }) => storedPackageJson(row, rules),
          cursor: ({ keys }) => sortedCursor('p', sort, keys),
          more: ageOf(readAt, now()),
        });
      },
    }),
    operation({
      id: 'getPackage',
      method: 'get',
      path: '/v1/packages/{id}',
      tag,
      summary: 'Read a package with its price and your suggested price',
      description: 'As last read from the service. A package that the service no longer lists has `removed_at`.',
      scope: 'packages:read',
      params: z.strictObject({ id: z.string().meta({ description: 'Id of the package.', example: '1001' }) }),
      answers: {
        200: jsonAnswer('The package.', packageWithAge),
      },
      problems: ['package_not_found', 'service_failed', 'service_unavailable', 'service_timeout'],
      handle: async ({ params }) => {
        const readAt = await catalogue.readAt('packages');
        const id = itemIdOf(params.id);
        const found = id === undefined ? undefined : await database.run((db) => findPackage(db, id));
        if (found === undefined) throw new Problem('package_not_found');
        const rules = await database.run(rulesInForce);
        return jsonReply(200, { ...storedPackageJson(found, rules), ...ageOf(readAt, now()) });
      },
    }),
  ];
}
