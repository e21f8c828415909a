import { sql, type SQL } from 'drizzle-orm';
import * as z from 'zod';
import type { Executor } from '#db/connection/database.ts';
import { attempts, journal, orders, packages, topups, vpnSubscriptions } from '#db/schema.ts';
import { WORK_KINDS } from '#domain/work/kinds.ts';

/** Always apart by currency. */
export const SALES_GROUPS = ['day', 'kind', 'package', 'country'] as const;
export type SalesGroup = (typeof SALES_GROUPS)[number];

const salesRow = z.object({
  day: z.string().nullable(),
  kind: z.enum(WORK_KINDS).nullable(),
  package_id: z.number().nullable(),
  vpn_plan_id: z.number().nullable(),
  country: z.string().nullable(),
  currency: z.string(),
  sold: z.coerce.number(),
  cost: z.string(),
  refunds: z.coerce.number(),
  refunded: z.string(),
  revenue: z.string(),
  unpriced: z.coerce.number(),
  is_priced: z.boolean(),
});

export type SalesRow = z.output<typeof salesRow>;

/**
 * A credit of a failed purchase counts on its own day, so a past day does not change, except by country: packages count
 * with their present countries.
 */
export async function sumSales(
  db: Executor,
  { fromDay, toDay, timeZone }: Readonly<Record<'fromDay' | 'toDay' | 'timeZone', string>>,
  groups: readonly SalesGroup[],
  limit: number,
): Promise<SalesRow[]> {
  const from = sql`(${fromDay}::date)::timestamp at time zone ${timeZone}`;
  const until = sql`(${toDay}::date + 1)::timestamp at time zone ${timeZone}`;
  const within = sql`${journal.recordedAt} >= ${from} and ${journal.recordedAt} < ${until}`;
  const by = (group: SalesGroup, column: SQL) => (groups.includes(group) ? column : sql`null`);
  const { rows } = await db.execute(sql`
    with entries as (
      select ${journal.recordedAt} as at, ${journal.currency} as currency, ${attempts.subjectId} as id,
          case ${journal.direction} when 'debit' then 1 else -1 end as sign, ${journal.amount} as amount, false as back
        from ${journal} join ${attempts} on ${attempts.id} = ${journal.causeId}
        where ${journal.causeKind} = 'attempt' and ${within}
      union all
      select ${journal.recordedAt}, ${journal.currency}, split_part(${journal.causeId}, '/', 1),
          case ${journal.direction} when 'debit' then 1 else -1 end, ${journal.amount}, false
        from ${journal} where ${journal.causeKind} = 'subscription_period' and ${within}
      union all
      select ${journal.recordedAt}, ${journal.currency}, ${journal.causeId},
          case ${journal.direction} when 'credit' then 1 else -1 end, ${journal.amount}, true
        from ${journal} where ${journal.causeKind} = 'refund' and ${within}
    ), works as (
      select entries.*,
        case when o.id is not null then 'order' when t.id is not null then 'topup'
          when v.id is not null then 'vpn_subscription' end as kind,
        coalesce(o.package_id, t.package_id) as package_id, v.vpn_plan_id,
        case when cardinality(p.countries) = 1 then p.countries[1] end as country,
        case when coalesce(o.customer_price_currency, t.customer_price_currency, v.customer_price_currency)
          = currency then coalesce(o.customer_price, t.customer_price, v.customer_price) end as price
      from entries
        left join ${orders} o on o.id = entries.id
        left join ${topups} t on t.id = entries.id
        left join ${vpnSubscriptions} v on v.id = entries.id
        left join ${packages} p on p.id = coalesce(o.package_id, t.package_id)
    )
    select ${by('day', sql`to_char(at at time zone ${timeZone}, 'YYYY-MM-DD')`)} as day,
      ${by('kind', sql`kind`)} as kind,
      ${by('package', sql`package_id`)} as package_id,
      ${by('package', sql`vpn_plan_id`)} as vpn_plan_id,
      ${by('country', sql`country`)} as country,
      currency,
      coalesce(sum(sign) filter (where not back), 0)::int as sold,
      coalesce(sum(sign * amount) filter (where not back), 0)::text as cost,
      coalesce(sum(sign) filter (where back), 0)::int as refunds,
      coalesce(sum(sign * amount) filter (where back), 0)::text as refunded,
      coalesce(sum(sign * price) filter (where not back), 0)::text as revenue,
      coalesce(sum(sign) filter (where not back and price is null), 0)::int as unpriced,
      not bool_or(not back and price is null) as is_priced
    from works
    group by 1, 2, 3, 4, 5, currency
    order by 1, 2, 3, 4, 5, currency
    limit ${limit}`);
  return z.array(salesRow).parse(rows);
}
