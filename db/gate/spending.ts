/** Daily spending, and the limits of API keys. */
import { and, eq } from 'drizzle-orm';
import { spendLimitOf } from '#db/access/api-keys.ts';
import type { Executor } from '#db/connection/database.ts';
import { apiKeys, gateSpending } from '#db/schema.ts';
import type { Money } from '#domain/money/money.ts';
import type { GatePolicy } from '#domain/policy/gate-policy.ts';

/** True when a daily limit applies to work of this key, so that its price must be known. */
export async function hasSpendLimit(
  db: Executor,
  apiKeyId: string,
  policy: Pick<GatePolicy, 'spendLimit'>,
): Promise<boolean> {
  return policy.spendLimit !== undefined || (await keyLimit(db, apiKeyId)) !== undefined;
}

async function keyLimit(db: Executor, apiKeyId: string): Promise<Money | undefined> {
  const [row] = await db
    .select({ spendLimitAmount: apiKeys.spendLimitAmount, spendLimitCurrency: apiKeys.spendLimitCurrency })
    .from(apiKeys)
    .where(eq(apiKeys.id, apiKeyId));
  return row && spendLimitOf(row);
}

/** Owner of the totals of all keys together. */
export const ALL_KEYS = '';

/** The amount spent, or possibly spent, on a day. @param apiKeyId undefined: by all keys. */
export async function spentOn(
  db: Executor,
  day: string,
  currency: string,
  apiKeyId: string | undefined,
): Promise<string> {
  const { day: on, currency: kept, apiKeyId: by, amount } = gateSpending;
  const [row] = await db
    .select({ amount })
    .from(gateSpending)
    .where(and(eq(on, day), eq(kept, currency), eq(by, apiKeyId ?? ALL_KEYS)));
  return row?.amount ?? '0';
}
