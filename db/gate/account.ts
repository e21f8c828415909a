/** What a reservation is compared with, read under the lock of the account. */
import { sql } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { ALL_KEYS } from '#db/gate/spending.ts';
import { apiKeys, gateReserved, gateSpending, gateWallet } from '#db/schema.ts';
import type { Money } from '#domain/money/money.ts';

/** Wallet and limits for one API key and the currency of a price. A fixed number of rows, whatever the day's size. */
export interface Account {
  /** The balance as last read, with its age; undefined: not known. */
  readonly wallet: { readonly balance: Money; readonly readAt: Date } | undefined;
  /** What other attempts may still debit from a balance in the currency of the price. */
  readonly reserved: Money;
  /** Spent, or possibly spent, on the day. */
  readonly spent: Money;
  readonly spentByKey: Money;
  /** Daily limit of the API key; undefined: none. */
  readonly keyLimit: Money | undefined;
}

interface AccountRow extends Record<string, unknown> {
  readonly balance: string | null;
  readonly balance_currency: string | null;
  readonly read_at: string | null;
  readonly reserved: string | null;
  readonly spent: string | null;
  readonly spent_by_key: string | null;
  readonly key_limit: string | null;
  readonly key_limit_currency: string | null;
}

/** @param of.day the day (UTC), such as `2030-01-31`. */
export async function readAccount(
  db: Executor,
  { day, apiKeyId, currency }: { readonly day: string; readonly apiKeyId: string; readonly currency: string },
): Promise<Account> {
  const spentBy = (owner: string) => sql`(select ${gateSpending.amount} from ${gateSpending}
    where ${gateSpending.day} = ${day} and ${gateSpending.currency} = ${currency}
      and ${gateSpending.apiKeyId} = ${owner})`;
  const { rows } = await db.execute<AccountRow>(sql`select
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
