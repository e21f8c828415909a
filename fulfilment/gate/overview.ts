import { and, asc, count, eq, isNotNull, isNull, min, ne, sql } from 'drizzle-orm';
import { spendLimitOf } from '#db/access/api-keys.ts';
import type { Executor } from '#db/connection/database.ts';
import { IS_HELD } from '#db/gate/waits.ts';
import { apiKeys, attempts, gateDrifts, gateReservations, gateSpending, gateWaits } from '#db/schema.ts';
import { spendDay, type Barrier } from '#domain/gate/purchase-gate.ts';
import type { Money } from '#domain/money/money.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import type { PurchaseKind, WorkRef } from '#domain/work/kinds.ts';
import { listCircuits } from '#fulfilment/gate/circuits.ts';
import { stoppedLines } from '#fulfilment/gate/line.ts';
import { activePauses } from '#fulfilment/gate/pauses.ts';
import { ALL_KEYS, spentOn } from '#fulfilment/gate/reservations.ts';
import { lastKnownBalance, reservedIn } from '#fulfilment/gate/wallet.ts';

export type GateOverview = Awaited<ReturnType<typeof readGate>>;

/** `spendLimit` is the daily limit of all keys together. */
export async function readGate(db: Executor, spendLimit: Money | undefined, now: number) {
  const known = await lastKnownBalance(db);
  const day = spendDay(now);
  return {
    circuits: await listCircuits(db),
    pauses: await activePauses(db),
    lines: await stoppedLines(db),
    parked: await parkedPurchases(db),
    held: await heldGroups(db),
    wallet: known && { ...known, reserved: await reservedIn(db, known.balance.currency) },
    day,
    spent: await db
      .select({ amount: gateSpending.amount, currency: gateSpending.currency })
      .from(gateSpending)
      .where(and(eq(gateSpending.day, day), eq(gateSpending.apiKeyId, ALL_KEYS), ne(gateSpending.amount, '0')))
      .orderBy(asc(gateSpending.currency)),
    limits: await readLimits(db, day, spendLimit),
  };
}

async function readLimits(db: Executor, day: string, spendLimit: Money | undefined) {
  const { id, name, spendLimitAmount, spendLimitCurrency } = apiKeys;
  const keys = await db
    .select({ id, name, spendLimitAmount, spendLimitCurrency })
    .from(apiKeys)
    .where(and(isNotNull(spendLimitAmount), isNull(apiKeys.lineageId)))
    .orderBy(id);
  const all = [
    { apiKey: undefined, limit: spendLimit },
    ...keys.map((key) => ({ apiKey: { id: key.id, name: key.name }, limit: spendLimitOf(key) })),
  ];
  const known = all.flatMap(({ apiKey, limit }) => (limit === undefined ? [] : [{ apiKey, limit }]));
  return Promise.all(
    known.map(async (one) => ({ ...one, spent: await spentOn(db, day, one.limit.currency, one.apiKey?.id) })),
  );
}

/** Also what may have been spent. The day is that of `now` in UTC, the currency that of the lineage's limit. */
export async function spendOfKey(
  db: Executor,
  { lineageId, limit: { currency } }: { readonly lineageId: string; readonly limit: Money },
  now: number,
): Promise<{ readonly day: string; readonly spent: Money }> {
  const day = spendDay(now);
  return { day, spent: { amount: await spentOn(db, day, currency, lineageId), currency } };
}

export interface HeldGroup {
  readonly barrier: Barrier;
  readonly failureClass: FailureClass;
  readonly count: number;
  readonly oldest: WorkRef & { readonly acceptedAt: Date };
  /** By currency. */
  readonly needed: readonly Money[];
  readonly withoutPrice: number;
}

/** The oldest group first. */
export async function heldGroups(db: Executor): Promise<HeldGroup[]> {
  const { barrier, failureClass, priceCurrency: currency, acceptedAt, subjectKind: kind, subjectId: id } = gateWaits;
  const parts = await db
    .select({
      barrier,
      failureClass,
      currency,
      amount: sql<string | null>`sum(${gateWaits.priceAmount})::text`,
      count: count(),
    })
    .from(gateWaits)
    .where(IS_HELD)
    .groupBy(barrier, failureClass, currency)
    .orderBy(min(acceptedAt), asc(currency));
  const groups: HeldGroup[] = [];
  for (const same of Map.groupBy(parts, (part) => `${part.barrier} ${part.failureClass}`).values()) {
    const [of] = same;
    if (of === undefined) continue;
    // Found by an index: to remember the oldest beside the sums would need a sort of all rows.
    const [oldest] = await db
      .select({ kind, id, acceptedAt })
      .from(gateWaits)
      .where(and(eq(barrier, of.barrier), eq(failureClass, of.failureClass), IS_HELD))
      .orderBy(asc(acceptedAt), asc(id))
      .limit(1);
    // Its last row may have left meanwhile.
    if (oldest === undefined) continue;
    groups.push({
      barrier: of.barrier,
      failureClass: of.failureClass,
      count: same.reduce((sum, part) => sum + part.count, 0),
      oldest,
      needed: same.flatMap((part) =>
        part.amount === null || part.currency === null ? [] : [{ amount: part.amount, currency: part.currency }],
      ),
      withoutPrice: same.reduce((sum, part) => sum + (part.amount === null ? part.count : 0), 0),
    });
  }
  return groups;
}

/** Drifted purchases that are neither whole nor judged. */
export interface Parked {
  readonly kind: PurchaseKind;
  readonly product: number;
  readonly count: number;
  readonly since: Date;
  /** What was charged, or reserved where no charge is known; by currency. */
  readonly cost: readonly Money[];
}

export async function parkedPurchases(db: Executor): Promise<Parked[]> {
  const { subjectKind: kind, product, driftedAt, attemptId } = gateDrifts;
  const currency = sql<string | null>`coalesce(${attempts.chargedCurrency}, ${gateReservations.currency})`;
  const amount = sql<string | null>`sum(coalesce(${attempts.chargedAmount}, ${gateReservations.amount}))::text`;
  const rows = await db
    .select({ kind, product, currency, amount, count: count(), since: sql<string>`min(${driftedAt})` })
    .from(gateDrifts)
    .leftJoin(attempts, eq(attempts.id, attemptId))
    .leftJoin(gateReservations, eq(gateReservations.attemptId, attemptId))
    .where(and(isNull(gateDrifts.settledAt), isNotNull(driftedAt)))
    .groupBy(kind, product, currency)
    .orderBy(asc(kind), asc(product));
  return [...Map.groupBy(rows, (row) => `${row.kind} ${row.product}`).values()].flatMap((parts) => {
    const [first] = parts;
    if (first === undefined) return [];
    return {
      kind: first.kind,
      product: first.product,
      count: parts.reduce((sum, part) => sum + part.count, 0),
      since: new Date(Math.min(...parts.map(({ since }) => Date.parse(since)))),
      cost: parts.flatMap((part) =>
        part.amount === null || part.currency === null ? [] : [{ amount: part.amount, currency: part.currency }],
      ),
    };
  });
}
