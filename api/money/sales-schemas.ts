/** The summary of sales, as the API shows it. */
import * as z from 'zod';
import { workKindField } from '#api/fields/ids.ts';
import { money } from '#api/fields/money.ts';
import { listOf } from '#api/fields/query.ts';
import { amount, safe, type CsvColumns } from '#api/lists/csv-file.ts';
import { SALES_GROUPS, type SalesRow } from '#db/money/sales.ts';
import { paddedAmount, subtractMoney } from '#domain/money/money.ts';

/** Longest span of days, and most groups of one answer. */
export const MAX_DAYS = 366;
export const MAX_GROUPS = 10_000;

const day = z.iso
  .date({ error: 'must be a day such as 2030-01-31' })
  // PostgreSQL has no year 0.
  .refine((text) => text >= '0001-01-01', { message: 'must be a day from 0001-01-01 on' });

export const TIME_ZONE = 'must be the IANA name of a time zone, such as Europe/Madrid';

const timeZone = z
  .string()
  .max(64)
  .refine(isTimeZone, { message: TIME_ZONE })
  .default('UTC')
  .meta({ description: 'IANA name of the time zone in which the days are.', example: 'Europe/Madrid' });

export const salesQuery = z.strictObject({
  from_day: day.meta({ description: 'First day.', example: '2030-01-01' }),
  to_day: day.meta({ description: `Last day, included; at most ${MAX_DAYS} days in all.`, example: '2030-01-31' }),
  time_zone: timeZone,
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

export const salesOutput = z
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
          cost: { amount: '28.80', currency: 'USD' },
          refunds: 1,
          refunded: { amount: '2.40', currency: 'USD' },
          revenue: { amount: '60.00', currency: 'USD' },
          unpriced: 0,
          margin: { amount: '33.60', currency: 'USD' },
        },
      ],
    },
  });

export type SaleOutput = z.input<typeof sale>;

/** The columns of the summary as a file. */
export const salesCsv: CsvColumns<SaleOutput> = {
  day: safe((each) => each.day),
  kind: safe((each) => each.kind),
  package_id: safe((each) => each.package_id),
  vpn_plan_id: safe((each) => each.vpn_plan_id),
  country: safe((each) => each.country),
  sold: safe((each) => each.sold),
  cost: amount((each) => each.cost),
  refunds: safe((each) => each.refunds),
  refunded: amount((each) => each.refunded),
  revenue: amount((each) => each.revenue),
  unpriced: safe((each) => each.unpriced),
  margin: amount((each) => each.margin),
};

/** A sum as the API shows it. */
export function saleJson({ currency, cost, refunded, revenue, is_priced: isPriced, ...sum }: SalesRow): SaleOutput {
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

/** The names that both JavaScript and PostgreSQL know: regions with a city, and UTC. Offsets are no names. */
function isTimeZone(name: string): boolean {
  if (!/^(?:UTC|GMT|[A-Z][A-Za-z_]+\/[A-Za-z0-9_+\-/]+)$/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
