import * as z from 'zod';
import type { ApiDependencies } from '#api/dependencies.ts';
import { money, workKindField, usd } from '#api/fields/fields.ts';
import { jsonAnswer, type Operation, operation } from '#api/http/operation.ts';
import { jsonReply } from '#api/http/reply.ts';
import { amount, csvAnswer, type CsvColumns, csvQuery, csvReply, fields } from '#api/lists/csv-file.ts';
import { listOf } from '#api/lists/lists.ts';
import { invalid } from '#api/problems/problem.ts';
import { sqlState } from '#db/connection/database.ts';
import { SALES_GROUPS, type SalesRow, sumSales } from '#db/money/sales.ts';
import { paddedAmount, subtractMoney } from '#domain/money/money.ts';
import { DAY } from '#domain/policy/settings.ts';

const MAX_DAYS = 366;
const MAX_GROUPS = 10_000;

const day = z.iso
  .date({ error: 'must be a day such as 2030-01-31' })
  // PostgreSQL has no year 0.
  .refine((text) => text >= '0001-01-01', { message: 'must be a day from 0001-01-01 on' });

const TIME_ZONE = 'must be the IANA name of a time zone, such as Europe/Madrid';

const salesQuery = z.strictObject({
  from_day: day.meta({ description: 'First day.', example: '2030-01-01' }),
  to_day: day.meta({ description: `Last day, included; at most ${MAX_DAYS} days in all.`, example: '2030-01-31' }),
  time_zone: z
    .string()
    .max(64)
    .refine(isTimeZone, { message: TIME_ZONE })
    .default('UTC')
    .meta({ description: 'IANA name of the time zone in which the days are.', example: 'Europe/Madrid' }),
  group_by: listOf(SALES_GROUPS)
    .optional()
    .meta({
      description:
        'Groups the sums by `day`, `kind` of purchase, `package` (with VPN plans), `country`, or several, ' +
        'separated by commas. Without it there is one sum for each currency.',
    }),
});

const sale = z
  .strictObject({
    day: z.string().nullable().meta({ description: 'Null unless grouped by `day`.', example: '2030-01-31' }),
    kind: workKindField.nullable().meta({ description: 'Null unless grouped by `kind`.', example: 'order' }),
    package_id: z.int().nullable().meta({ description: 'Null unless grouped by `package`.', example: 1001 }),
    vpn_plan_id: z.int().nullable().meta({ description: 'The VPN plan, when grouped by `package`.' }),
    country: z
      .string()
      .nullable()
      .meta({
        description:
          'Null unless grouped by `country`; then null counts packages for several countries, packages that the ' +
          'catalogue does not know, and VPN plans.',
        example: 'ES',
      }),
    sold: z.int().meta({
      description:
        'Purchases that the service charged, and later periods of VPN subscriptions. A purchase that failed and was ' +
        'credited counts minus one on the day of the credit.',
      example: 12,
    }),
    cost: money.meta({ description: 'What the service charged for them, less what it credited for failed ones.' }),
    refunds: z.int().meta({ description: 'Refunds of what had been bought.' }),
    refunded: money.meta({ description: 'What the service paid back by these refunds.' }),
    revenue: money.meta({ description: 'Sum of their `customer_price`, where it is given in this currency.' }),
    unpriced: z
      .int()
      .meta({ description: 'How many of `sold` have no `customer_price` in this currency, credits taken off.' }),
    margin: money.nullable().meta({
      description:
        '`revenue` − `cost` + `refunded`. Null if a charge or a credit among them has no price. What you pay back to ' +
        'your customers is not known here.',
    }),
  })
  .meta({ id: 'SalesSum' });

const salesOutput = z
  .strictObject({ data: z.array(sale), time_zone: z.string().meta({ example: 'Europe/Madrid' }) })
  .meta({
    id: 'SalesSummary',
    example: {
      data: [
        {
          day: '2030-01-31',
          kind: null,
          package_id: 1001,
          vpn_plan_id: null,
          country: null,
          sold: 12,
          cost: usd('28.80'),
          refunds: 1,
          refunded: usd('2.40'),
          revenue: usd('60.00'),
          unpriced: 0,
          margin: usd('33.60'),
        },
      ],
    },
  });

type SaleOutput = z.input<typeof sale>;

const salesCsv: CsvColumns<SaleOutput> = [
  fields('day', 'kind', 'package_id', 'vpn_plan_id', 'country', 'sold'),
  amount('cost', ({ cost }) => cost),
  fields('refunds'),
  amount('refunded', ({ refunded }) => refunded),
  amount('revenue', ({ revenue }) => revenue),
  fields('unpriced'),
  amount('margin', ({ margin }) => margin),
];

function saleJson({ currency, cost, refunded, revenue, is_priced: isPriced, ...sum }: SalesRow): SaleOutput {
  const shown = (text: string) => ({ amount: paddedAmount(text), currency });
  const net = subtractMoney({ amount: cost, currency }, { amount: refunded, currency });
  const margin = subtractMoney({ amount: revenue, currency }, net);
  return {
    ...sum,
    cost: shown(cost),
    refunded: shown(refunded),
    revenue: shown(revenue),
    margin: isPriced ? shown(margin.amount) : null,
  };
}

/** JavaScript and PostgreSQL both know regions with a city, and UTC. Offsets are no names. */
function isTimeZone(name: string): boolean {
  if (!/^(?:UTC|GMT|[A-Z][A-Za-z_]+\/[A-Za-z0-9_+\-/]+)$/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** `invalid_parameter_value`: PostgreSQL knows fewer time zones than JavaScript. */
const UNKNOWN_TIME_ZONE = '22023';

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
    operation('GET /v1/sales', {
      id: 'getSales',
      summary: 'Sum up sales by day, kind, package and country',
      description:
        'Sums of our journal for the given days. Amounts of different currencies are never added: each currency has ' +
        'its own sums. The margin needs `customer_price` of the orders, top-ups and VPN subscriptions.',
      scope: 'wallet:read',
      query: salesQuery,
      answers: { 200: jsonAnswer('The sums, ordered by their groups.', salesOutput) },
      heavy: 'many',
      handle: async ({ query }) => jsonReply(200, { data: await read(query), time_zone: query.time_zone }),
    }),
    operation('GET /v1/sales.csv', {
      id: 'exportSales',
      summary: 'Get the sums of sales as CSV',
      scope: 'wallet:read',
      query: salesQuery.extend(csvQuery),
      answers: csvAnswer('sums'),
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

function requireSpan(fromDay: string, toDay: string): void {
  const days = (Date.parse(toDay) - Date.parse(fromDay)) / DAY + 1;
  if (days < 1) throw invalid([{ in: 'query', field: 'to_day', message: 'must not be before from_day' }]);
  if (days > MAX_DAYS) {
    const message = `must be at most ${MAX_DAYS} days after from_day, both included`;
    throw invalid([{ in: 'query', field: 'to_day', message }]);
  }
}
