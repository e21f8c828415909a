/** The purchase gate as the API and the metrics show it. */
import { and, asc, eq, isNotNull, isNull, ne } from 'drizzle-orm';
import { spendLimitOf } from '#db/access/api-keys.ts';
import type { Executor } from '#db/connection/database.ts';
import { listCircuits, type CircuitRow } from '#db/gate/circuits.ts';
import { heldGroups, type HeldGroup } from '#db/gate/held-groups.ts';
import { parkedPurchases, stoppedLines, type LineRow, type Parked } from '#db/gate/lines.ts';
import { activePauses, type PauseRow } from '#db/gate/pauses.ts';
import { ALL_KEYS, spentOn } from '#db/gate/spending.ts';
import { lastKnownBalance, reservedIn, type LastKnownBalance } from '#db/gate/wallet.ts';
import { apiKeys, gateSpending } from '#db/schema.ts';
import { spendDay } from '#domain/gate/purchase-gate.ts';
import type { Money } from '#domain/money/money.ts';

/** A daily limit with the amount spent under it. */
interface LimitUse {
  /** Undefined: all keys together. */
  readonly apiKey: { readonly id: string; readonly name: string } | undefined;
  readonly limit: Money;
  readonly spent: string;
}

export interface GateOverview {
  readonly circuits: readonly CircuitRow[];
  readonly pauses: readonly PauseRow[];
  /** The lines that are not open. */
  readonly lines: readonly LineRow[];
  /** Paid purchases without a usable delivery, by kind and product. */
  readonly parked: readonly Parked[];
  readonly held: readonly HeldGroup[];
  /** The balance as last read, and the reservations against it. */
  readonly wallet: (LastKnownBalance & { readonly reserved: Money }) | undefined;
  readonly day: string;
  /** Amounts spent today, or possibly spent, by currency. */
  readonly spent: readonly Money[];
  readonly limits: readonly LimitUse[];
}

/** @param spendLimit daily limit of all keys together. */
export async function readGate(db: Executor, spendLimit: Money | undefined, now: number): Promise<GateOverview> {
  const known = await lastKnownBalance(db);
  const day = spendDay(now);
  return {
    circuits: await listCircuits(db),
    pauses: await activePauses(db),
    lines: await stoppedLines(db),
    parked: await parkedPurchases(db),
    held: await heldGroups(db),
    wallet: known === undefined ? undefined : { ...known, reserved: await reservedIn(db, known.balance.currency) },
    day,
    spent: await spentToday(db, day),
    limits: await limits(db, day, spendLimit),
  };
}

async function spentToday(db: Executor, day: string): Promise<Money[]> {
  const { day: on, currency, apiKeyId, amount } = gateSpending;
  return db
    .select({ amount, currency })
    .from(gateSpending)
    .where(and(eq(on, day), eq(apiKeyId, ALL_KEYS), ne(amount, '0')))
    .orderBy(asc(currency));
}

/**
 * The amount that the work of one lineage has spent, or may have spent, on the day of `now` (UTC), in the currency of
 * its limit.
 * @param now epoch milliseconds.
 */
export async function spendOfKey(
  db: Executor,
  { lineageId, limit }: { readonly lineageId: string; readonly limit: Money },
  now: number,
): Promise<{ readonly day: string; readonly spent: Money }> {
  const day = spendDay(now);
  return {
    day,
    spent: { amount: await spentOn(db, day, limit.currency, lineageId), currency: limit.currency },
  };
}

async function limits(db: Executor, day: string, spendLimit: Money | undefined): Promise<LimitUse[]> {
  const keys = await db
    .select({
      id: apiKeys.id,
      name: apiKeys.name,
      spendLimitAmount: apiKeys.spendLimitAmount,
      spendLimitCurrency: apiKeys.spendLimitCurrency,
    })
    .from(apiKeys)
    .where(and(isNotNull(apiKeys.spendLimitAmount), isNull(apiKeys.lineageId)))
    .orderBy(apiKeys.id);
  const all = [
    ...(spendLimit === undefined ? [] : [{ apiKey: undefined, limit: spendLimit }]),
    ...keys.flatMap(({ id, name, ...key }) => {
      const limit = spendLimitOf(key);
      return limit === undefined ? [] : [{ apiKey: { id, name }, limit }];
    }),
  ];
  return Promise.all(
    all.map(async (one) => ({ ...one, spent: await spentOn(db, day, one.limit.currency, one.apiKey?.id) })),
  );
}
