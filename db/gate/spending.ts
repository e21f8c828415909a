/** Daily spending, and the limits of API keys. */
import { and, eq, sql } from 'drizzle-orm';
import { spendLimitOf } from '#db/access/api-keys.ts';
import type { Executor } from '#db/connection/database.ts';
import { committed, mayCost } from '#db/gate/wallet.ts';
import { apiKeys, attempts, gateReservations } from '#db/schema.ts';
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

/** The daily limit of an API key; undefined: none. */
export async function keyLimit(db: Executor, apiKeyId: string): Promise<Money | undefined> {
  const [row] = await db
    .select({ spendLimitAmount: apiKeys.spendLimitAmount, spendLimitCurrency: apiKeys.spendLimitCurrency })
    .from(apiKeys)
    .where(eq(apiKeys.id, apiKeyId));
  return row && spendLimitOf(row);
}

/** The amount spent, or possibly spent, on a day. @param options.of an API key; undefined: all. */
export async function spentOn(
  db: Executor,
  day: string,
  currency: string,
  { of, except = '' }: { readonly of: string | undefined; readonly except?: string },
): Promise<string> {
  const [row] = await db
    .select({ total: sql<string>`coalesce(sum(${committed}), 0)::text` })
    .from(gateReservations)
    .innerJoin(attempts, eq(attempts.id, gateReservations.attemptId))
    .where(
      and(
        eq(gateReservations.day, day),
        eq(gateReservations.currency, currency),
        mayCost,
        of === undefined ? undefined : eq(gateReservations.apiKeyId, of),
        sql`${gateReservations.attemptId} <> ${except}`,
      ),
    );
  return row?.total ?? '0';
}
