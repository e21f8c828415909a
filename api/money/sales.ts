import type * as z from 'zod';
import type { ApiDependencies } from '#api/dependencies.ts';
import { invalid, type Operation, operation, jsonAnswer } from '#api/http/operation.ts';
import { jsonReply } from '#api/http/reply.ts';
import { csvAnswer, csvQuery, csvReply } from '#api/lists/csv-file.ts';
import {
  MAX_DAYS,
  MAX_GROUPS,
  TIME_ZONE,
  saleJson,
  type SaleOutput,
  salesCsv,
  salesOutput,
  salesQuery,
} from '#api/money/sales-schemas.ts';
import { sqlState } from '#db/connection/database.ts';
import { sumSales } from '#db/money/sales.ts';

const tag = 'Sales';
const DAY_MS = 86_400_000;
/** `invalid_parameter_value`: PostgreSQL knows fewer time zones than JavaScript. */
const UNKNOWN_TIME_ZONE = '22023';

/** What was sold: sums by day, kind, package and country, as JSON and as a file. */
export function salesOperations(dependencies: ApiDependencies): Operation[] {
  const { database } = dependencies;
  const read = async (query: z.output<typeof salesQuery>): Promise<SaleOutput[]> => {
    const { from_day: fromDay, to_day: toDay, time_zone: timeZone, group_by: groups = [] } = query;
    requireSpan(fromDay, toDay);
    const window = { fromDay, toDay, timeZone };
    const rows = await database
      .run((db) => sumSales(db, window, groups, MAX_GROUPS + 1))
      .catch((error: unknown) => {
        if (sqlState(error) !== UNKNOWN_TIME_ZONE) throw error;
        throw invalid([{ in: 'query', field: 'time_zone', message: TIME_ZONE }]);
      });
    if (rows.length <= MAX_GROUPS) return rows.map(saleJson);
    throw invalid([
      { in: 'query', field: 'group_by', message: `gives more than ${MAX_GROUPS} groups: ask for fewer days or groups` },
    ]);
  };
  return [
    operation({
      id: 'getSales',
      method: 'get',
      path: '/v1/sales',
      tag,
      summary: 'Sum up sales by day, kind, package and country',
      description:
        'Sums of our journal for the given days. Amounts of different currencies are never added: each currency has ' +
        'its own sums. The margin needs `customer_price` of the orders, top-ups and VPN subscriptions.',
      scope: 'wallet:read',
      accountWide: true,
      query: salesQuery,
      answers: {
        200: jsonAnswer('The sums, ordered by their groups.', salesOutput),
      },
      handle: async ({ query }) => jsonReply(200, { data: await read(query), time_zone: query.time_zone }),
    }),
    operation({
      id: 'exportSales',
      method: 'get',
      path: '/v1/sales.csv',
      tag,
      summary: 'Get the sums of sales as CSV',
      scope: 'wallet:read',
      accountWide: true,
      query: salesQuery.extend(csvQuery),
      answers: csvAnswer('sums'),
      problems: ['too_many_streams'],
      heavy: 'file',
      handle: async ({ query, caller }) => {
        let sums: readonly SaleOutput[] = [];
        return csvReply(
          dependencies,
          { bom: query.bom, caller, scope: 'wallet:read' },
          {
            name: `sales-${query.from_day}-${query.to_day}`,
            columns: salesCsv,
            read: async (after: number | undefined, limit) => {
              if (after === undefined) sums = await read(query);
              const from = after ?? 0;
              return sums.slice(from, from + limit).map((item, index) => ({ item, position: from + index + 1 }));
            },
          },
        );
      },
    }),
  ];
}

/** @throws Problem validation_failed */
function requireSpan(fromDay: string, toDay: string): void {
  const days = (Date.parse(toDay) - Date.parse(fromDay)) / DAY_MS + 1;
  if (days < 1) throw invalid([{ in: 'query', field: 'to_day', message: 'must not be before from_day' }]);
  if (days > MAX_DAYS) {
    const message = `must be at most ${MAX_DAYS} days after from_day, both included`;
    throw invalid([{ in: 'query', field: 'to_day', message }]);
  }
}
