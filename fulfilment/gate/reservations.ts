/**
 * Reserves the price in the transaction that claims the send. The totals are the wallet less what is reserved, and
 * what was spent on a day.
 */
import { and, eq, sql } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { apiKeys, gateReservations, gateReserved, gateSpending, gateWallet } from '#db/schema.ts';
import type { AttemptRow } from '#db/work/rows.ts';
import { judgeReservation, spendDay, spendProblem, untilNextDay, type GateStop } from '#domain/gate/purchase-gate.ts';
import type { Money } from '#domain/money/money.ts';
import type { GatePolicy } from '#domain/policy/gate-policy.ts';
import { distrustReading, lockAccount } from '#fulfilment/gate/wallet.ts';

export const ALL_KEYS = '';
const DAY_MS = 86_400_000;

/** Only `reserved` was compared with a balance. `reserved_before`: an earlier send of the attempt reserved it. */
export type Reserved = 'reserved' | 'reserved_before' | 'price_unknown' | 'balance_unknown' | 'other_currency';

export type Reservation =
  | { readonly kind: 'reserved'; readonly how: Reserved }
  | { readonly kind: 'stopped'; readonly stop: GateStop };

/** `attempt` is locked. */
export interface ReservationRequest {
  readonly attempt: AttemptRow;
  readonly apiKeyId: string;
  readonly price: Money | undefined;
  readonly now: Date;
}

/** Serialises concurrent callers with the account lock. */
export async function reserve(
  tx: Executor,
  { attempt, apiKeyId, price, now }: ReservationRequest,
  policy: GatePolicy,
): Promise<Reservation> {
  // An attempt that may have bought is resent with the same key: its money is reserved already, or its price was not
  // known.
  if (attempt.anyUnknown || attempt.state === 'sending') return { kind: 'reserved', how: 'reserved_before' };
  await lockAccount(tx);
  if (price === undefined) {
    await distrustReading(tx);
    return { kind: 'reserved', how: 'price_unknown' };
  }
  const { amount, currency } = price;
  const day = spendDay(now.getTime());
  const account = await readAccount(tx, { day, apiKeyId, currency });
  const detail = limitProblem(account, price, policy);
  if (detail !== undefined) {
    const recheckMs = untilNextDay(now.getTime());
    return { kind: 'stopped', stop: { barrier: 'spend_limit', failure: 'spend_limit_reached', detail, recheckMs } };
  }
  const how = judgeWallet(account, price, now, policy);
  if (typeof how !== 'string') {
    const { recheckMs } = policy;
    return { kind: 'stopped', stop: { barrier: 'wallet', failure: 'insufficient_balance', ...how, recheckMs } };
  }
  const values = { apiKeyId, day, amount, currency, madeAt: now };
  await tx
    .insert(gateReservations)
    .values({ attemptId: attempt.id, ...values })
    .onConflictDoUpdate({
      target: gateReservations.attemptId,
      set: { ...values, coveredByReading: null, isOver: false },
    });
  return { kind: 'reserved', how };
}

/** `account` must be read for the currency of the price. */
export function judgeWallet(
  { wallet, reserved }: Account,
  price: Money,
  now: Date,
  policy: Pick<GatePolicy, 'balanceAgeMs'>,
): Reserved | { readonly detail: string } {
  if (wallet === undefined || now.getTime() - wallet.readAt.getTime() > policy.balanceAgeMs) return 'balance_unknown';
  const answer = judgeReservation(price, { balance: wallet.balance, reserved });
  if (answer.kind === 'short') return { detail: answer.detail };
  return answer.kind === 'enough' ? 'reserved' : answer.kind;
}

/** `account` must be read for the currency of the price. @returns undefined when no limit is exceeded. */
export function limitProblem(
  { spent, spentByKey, keyLimit }: Account,
  price: Money,
  { spendLimit }: Pick<GatePolicy, 'spendLimit'>,
): string | undefined {
  const ofAll = spendLimit && spendProblem(price, { limit: spendLimit, spent, whose: 'of all' });
  return ofAll ?? (keyLimit && spendProblem(price, { limit: keyLimit, spent: spentByKey, whose: 'of this API key' }));
}

/** For the currency of one price. A fixed number of rows, whatever the day's size. */
export interface Account {
  readonly wallet: { readonly balance: Money; readonly readAt: Date } | undefined;
  /** What other attempts may still debit, in the currency of the price. */
  readonly reserved: Money;
  /** Or possibly spent, on the day: by all keys, and by this one. */
  readonly spent: Money;
  readonly spentByKey: Money;
  readonly keyLimit: Money | undefined;
}

/** `day` is in UTC, such as `2030-01-31`. */
export async function readAccount(
  db: Executor,
  { day, apiKeyId, currency }: { readonly day: string; readonly apiKeyId: string; readonly currency: string },
): Promise<Account> {
  const spentBy = (owner: string) => sql`(select ${gateSpending.amount} from ${gateSpending}
    where ${gateSpending.day} = ${day} and ${gateSpending.currency} = ${currency}
      and ${gateSpending.apiKeyId} = ${owner})`;
  const { rows } = await db.execute<
    Record<
      | 'balance'
      | 'balance_currency'
      | 'read_at'
      | 'reserved'
      | 'spent'
      | 'spent_by_key'
      | 'key_limit'
      | 'key_limit_currency',
      string | null
    >
  >(sql`select
      ${gateWallet.balanceAmount} as balance, ${gateWallet.balanceCurrency} as balance_currency,
      ${gateWallet.readAt} as read_at,
      (select ${gateReserved.amount} from ${gateReserved} where ${gateReserved.currency} = ${currency}) as reserved,
      ${spentBy(ALL_KEYS)} as spent, ${spentBy(apiKeyId)} as spent_by_key,
      ${apiKeys.spendLimitAmount} as key_limit, ${apiKeys.spendLimitCurrency} as key_limit_currency
    from (values (1)) as one
      left join ${gateWallet} on ${gateWallet.reading} is not null
      left join ${apiKeys} on ${apiKeys.id} = ${apiKeyId}`);
  const [row] = rows;
  if (row === undefined) throw new Error('the account cannot be read');
  const money = (amount: string | null): Money => ({ amount: amount ?? '0', currency });
  const balance = moneyOf(row.balance, row.balance_currency);
  return {
    wallet: balance === undefined || row.read_at === null ? undefined : { balance, readAt: new Date(row.read_at) },
    reserved: money(row.reserved),
    spent: money(row.spent),
    spentByKey: money(row.spent_by_key),
    keyLimit: moneyOf(row.key_limit, row.key_limit_currency),
  };
}

function moneyOf(amount: string | null, currency: string | null): Money | undefined {
  return amount === null || currency === null ? undefined : { amount, currency };
}

/** Or possibly spent. */
export async function spentOn(db: Executor, day: string, currency: string, apiKeyId = ALL_KEYS): Promise<string> {
  const { day: on, currency: kept, apiKeyId: by, amount } = gateSpending;
  const [row] = await db
    .select({ amount })
    .from(gateSpending)
    .where(and(eq(on, day), eq(kept, currency), eq(by, apiKeyId)));
  return row?.amount ?? '0';
}

/**
 * Compares today, yesterday and the open reservations with their rows. @returns the differences: none, unless
 * something has changed tables behind their triggers.
 */
export async function correctTotals(tx: Executor, now: number): Promise<TotalDifference[]> {
  const since = spendDay(now - DAY_MS);
  const differences = await differingTotals(tx, since);
  if (differences.length > 0) await recountTotals(tx, since);
  return differences;
}

/** `spending` of a day and an API key (empty: all keys), or `reserved`, where both are empty. */
type TotalDifference = Record<'day' | 'currency' | 'api_key_id' | 'kept' | 'summed', string> & {
  readonly total: 'spending' | 'reserved';
};

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

/** Takes the lock of the account. */
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

/** The tables are joined as a whole: one look-up for each reservation takes ten times as long. */
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
