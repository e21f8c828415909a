import * as z from 'zod';
import type { ApiDependencies } from '#api/dependencies.ts';
import { ageOf, freshness, freshnessExample } from '#api/fields/freshness.ts';
import { type Operation, operation } from '#api/http/operation.ts';
import { jsonReply } from '#api/http/reply.ts';
import { numberCursor, readNumberCursor } from '#api/lists/cursor.ts';
import { pageQuery } from '#api/lists/page-schemas.ts';
import type { PackageList } from '#api/offers/package-list.ts';
import { packageExample, packageJson, packageOutput } from '#api/packages/package-schemas.ts';
import { foundAfter, packageSearch } from '#api/packages/package-search.ts';
import { Problem } from '#api/problems/problem.ts';
import { rulesInForce } from '#db/money/pricing-rules.ts';

const tag = 'Packages';
const JSON_TYPE = 'application/json';

const packagePage = z
  .strictObject({
    data: z.array(packageOutput),
    next_cursor: z
      .string()
      .nullable()
      .meta({ description: 'Value of `cursor` for the next page; null on the last page.' }),
    ...freshness,
  })
  .meta({ id: 'PackagePage' });

const packageWithAge = z.strictObject({ ...packageOutput.shape, ...freshness }).meta({ id: 'PackageWithAge' });

/** Packages of the service, cached for at most half a minute. */
export function packageOperations({ database, now }: ApiDependencies, packages: PackageList): Operation[] {
  return [
    operation({
      id: 'listPackages',
      method: 'get',
      path: '/v1/packages',
      tag,
      summary: 'List packages with their prices and your suggested prices',
      description: 'The filters are combined. A cursor continues a list with the same filters and the same order.',
      scope: 'packages:read',
      query: z.strictObject({ ...packageSearch, ...pageQuery }),
      answers: {
        200: {
          description: 'A page of packages.',
          contentType: JSON_TYPE,
          schema: packagePage,
          example: { data: [packageExample], next_cursor: null, ...freshnessExample },
        },
      },
      problems: ['service_failed', 'service_unavailable', 'service_timeout'],
      handle: async ({ query: { limit, cursor, ...search } }) => {
        const after = cursor === undefined ? undefined : Number(readNumberCursor('p', cursor));
        const { value, readAt } = await packages.get();
        const rules = await database.run(rulesInForce);
        const rest = foundAfter(value.items, search, after);
        const shown = rest.slice(0, limit);
        const last = rest.length > limit ? shown.at(-1)?.id : undefined;
        return jsonReply(200, {
          data: shown.map((each) => packageJson(each, rules)),
          next_cursor: last === undefined ? null : numberCursor('p', BigInt(last)),
          ...ageOf(readAt, now()),
        });
      },
    }),
    operation({
      id: 'getPackage',
      method: 'get',
      path: '/v1/packages/{id}',
      tag,
      summary: 'Read a package with its price and your suggested price',
      scope: 'packages:read',
      params: z.strictObject({ id: z.string().meta({ description: 'Id of the package.', example: '1001' }) }),
      answers: {
        200: {
          description: 'The package.',
          contentType: JSON_TYPE,
          schema: packageWithAge,
          example: { ...packageExample, ...freshnessExample },
        },
      },
      problems: ['package_not_found', 'service_failed', 'service_unavailable', 'service_timeout'],
      handle: async ({ params: { id } }) => {
        const { value, readAt } = await packages.get();
        const found = value.items.find((each) => String(each.id) === id);
        if (found === undefined) throw new Problem('package_not_found');
        const rules = await database.run(rulesInForce);
        return jsonReply(200, { ...packageJson(found, rules), ...ageOf(readAt, now()) });
      },
    }),
  ];
}
