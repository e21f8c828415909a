/** Daily spending. */
import { and, eq } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { gateSpending } from '#db/schema.ts';

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
