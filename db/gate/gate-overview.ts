/** The purchase gate as the API and the metrics show it. */
import { and, asc, count, eq, isNotNull, isNull, min, ne, sql } from 'drizzle-orm';
import { spendLimitOf } from '#db/access/api-keys.ts';
import type { Executor } from '#db/connection/database.ts';
import { listCircuits, type CircuitRow } from '#db/gate/circuits.ts';
import { activePauses, type PauseRow } from '#db/gate/pauses.ts';
import { ALL_KEYS, spentOn } from '#db/gate/spending.ts';
import { latestReading, reservedIn, type WalletReading } from '#db/gate/wallet.ts';
import { apiKeys, gateSpending, gateWaits } from '#db/schema.ts';
import { spendDay, type Barrier } from '#domain/gate/purchase-gate.ts';
import type { Money } from '#domain/money/money.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import type { WorkRef } from '#domain/work/kinds.ts';

/** Work that is held at one barrier for one reason. */
export interface HeldGroup {
  readonly barrier: Barrier;
  readonly failureClass: FailureClass;
  readonly count: number;
  readonly oldest: WorkRef & { readonly acceptedAt: Date };
}

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
  readonly held: readonly HeldGroup[];
  /** The balance as last read, and the reservations against it. */
  readonly wallet: (WalletReading & { readonly reserved: Money }) | undefined;
  readonly day: string;
  /** Amounts spent today, or possibly spent, by currency. */
  readonly spent: readonly Money[];
  readonly limits: readonly LimitUse[];
}

/** @param spendLimit daily limit of all keys together. */
export async function readGate(db: Executor, spendLimit: Money | undefined, now: number): Promise<GateOverview> {
  const reading = await latestReading(db);
  const day = spendDay(now);
  return {
    circuits: await listCircuits(db),
    pauses: await activePauses(db),
    held: await heldGroups(db),
    wallet:
      reading === undefined ? undefined : { ...reading, reserved: await reservedIn(db, reading.balance.currency) },
    day,
    spent: await spentToday(db, day),
    limits: await limits(db, day, spendLimit),
  };
}

/** Held work by barrier, the oldest queue first. */
export async function heldGroups(db: Executor): Promise<HeldGroup[]> {
  const oldest = sql<string>`(array_agg(${gateWaits.subjectKind} || '/' || ${gateWaits.subjectId}
    order by ${gateWaits.acceptedAt}))[1]`;
  const rows = await db
    .select({
      barrier: gateWaits.barrier,
      failureClass: gateWaits.failureClass,
      count: count(),
      acceptedAt: min(gateWaits.acceptedAt),
      oldest,
    })
    .from(gateWaits)
    .groupBy(gateWaits.barrier, gateWaits.failureClass)
    .orderBy(min(gateWaits.acceptedAt));
  return rows.flatMap(({ acceptedAt, oldest: name, ...line }) => {
    const [kind, id] = name.split('/', 2) as [WorkRef['kind'], string];
    return acceptedAt === null ? [] : [{ ...line, oldest: { kind, id, acceptedAt } }];
  });
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
