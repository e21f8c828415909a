/** Compares the running totals of the gate with the rows that they count. */
import { sql } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { lockAccount } from '#db/gate/account-lock.ts';

/** A total that is not the sum of its rows. */
export interface TotalDifference extends Record<string, unknown> {
  /** `spending` of a day and an API key (empty: all keys), or `reserved`; the others are empty there. */
  readonly total: 'spending' | 'reserved';
  readonly day: string;
  readonly currency: string;
  readonly api_key_id: string;
  /** The total as kept, and as summed from reservations and attempts. */
  readonly kept: string;
  readonly summed: string;
}

/**
 * Finds the totals that differ from their rows: of the days since `since`, and of all open reservations.
 * @param since a day (UTC), such as `2030-01-31`.
 */
export async function differingTotals(db: Executor, since: string): Promise<TotalDifference[]> {
  // One statement sees one state of all tables, so it needs no lock.
  const { rows } = await db.execute<TotalDifference>(sql`
    with summed as (${summedTotals(since)}),
    kept as (
      select 'spending' as total, day::text as day, currency, api_key_id, amount from gate_spending
        where day >= ${since}::date
      union all select 'reserved', '', currency, '', amount from gate_reserved
    )
    select total, day, currency, api_key_id, coalesce(kept.amount, 0)::text as kept,
      coalesce(summed.amount, 0)::text as summed
    from kept full join summed using (total, day, currency, api_key_id)
    where coalesce(kept.amount, 0) <> coalesce(summed.amount, 0)
    order by total, day, currency, api_key_id`);
  return rows;
}

/**
 * Sets the totals to the sums of their rows, of the days since `since` and of all open reservations. Takes the lock of
 * the account.
 */
export async function recountTotals(tx: Executor, since: string): Promise<void> {
  await lockAccount(tx);
  await tx.execute(sql`update gate_reservations r set counted = gate_counted(r)
    where (day >= ${since}::date or not is_over) and counted <> gate_counted(r)`);
  await tx.execute(sql`with summed as (${summedTotals(since)}), gone as (
      update gate_spending set amount = 0 where day >= ${since}::date and (day::text, currency, api_key_id) not in
        (select day, currency, api_key_id from summed where total = 'spending')
    )
    insert into gate_spending (day, currency, api_key_id, amount)
    select day::date, currency, api_key_id, amount from summed where total = 'spending'
    on conflict (day, currency, api_key_id) do update set amount = excluded.amount`);
  await tx.execute(sql`with summed as (${summedTotals(since)}), gone as (
      update gate_reserved set amount = 0
        where currency not in (select currency from summed where total = 'reserved')
    )
    insert into gate_reserved (currency, amount) select currency, amount from summed where total = 'reserved'
    on conflict (currency) do update set amount = excluded.amount`);
}

/**
 * The totals from reservations and attempts alone. The tables are joined as a whole: one look-up for each reservation
 * takes ten times as long.
 */
function summedTotals(since: string) {
  const costs = sql`sum(gate_cost(a, r)) as amount
      from gate_reservations r left join attempts a on a.id = r.attempt_id`;
  return sql`select 'spending' as total, day::text as day, currency, owner as api_key_id, sum(amount) as amount
      from (
        select r.day, r.currency, r.api_key_id, ${costs} where r.day >= ${since}::date
        group by r.day, r.currency, r.api_key_id
      ) by_key, lateral (values (api_key_id), ('')) as key(owner)
      group by day, currency, owner
    union all
    select 'reserved', '', r.currency, '', ${costs} where not r.is_over group by r.currency`;
}
