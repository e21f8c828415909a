import { and, asc, count, eq, isNotNull, isNull, ne, sql } from 'drizzle-orm';
import { spendLimitOf } from '#db/access/api-keys.ts';
import type { Executor } from '#db/connection/database.ts';
import { firstInQueue, IS_HELD } from '#db/gate/waits.ts';
import { apiKeys, attempts, gateDrifts, gateReservations, gateSpending, gateWaits } from '#db/schema.ts';
import { judgeAtCircuit } from '#domain/gate/circuit.ts';
import type { Barrier } from '#domain/gate/purchase-gate.ts';
import { spendDay } from '#domain/gate/spend-limit.ts';
import type { Money } from '#domain/money/money.ts';
import type { GatePolicy } from '#domain/policy/gate-policy.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import type { PurchaseKind, WorkKind, WorkRef } from '#domain/work/kinds.ts';
import {
  ALL_KEYS,
  judgeWallet,
  limitProblem,
  readAccount,
  spentOn,
  lastBalance,
  reservedIn,
} from '#fulfilment/gate/account.ts';
import { listCircuits } from '#fulfilment/gate/circuits.ts';
import { foreseenAtDriftStop, driftStopsInForce } from '#fulfilment/gate/drift-stop.ts';
import { activePauses, pauseFor } from '#fulfilment/gate/pauses.ts';

export type GateOverview = Awaited<ReturnType<typeof readGate>>;

/** `spendLimit` is the daily limit of all keys together. */
export async function readGate(db: Executor, spendLimit: Money | undefined, now: number) {
  const known = await lastBalance(db);
  const day = spendDay(now);
  return {
    circuits: await listCircuits(db),
    pauses: await activePauses(db),
    driftStops: await driftStopsInForce(db),
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

interface HeldGroup {
  readonly barrier: Barrier;
  readonly failureClass: FailureClass;
  readonly count: number;
  readonly oldest: WorkRef & { readonly acceptedAt: Date };
  /** By currency. */
  readonly needed: readonly Money[];
  readonly withoutPrice: number;
}

/** One statement, so that counts and oldest belong together. The oldest group first. */
export async function heldGroups(db: Executor): Promise<HeldGroup[]> {
  const { barrier, failureClass, priceCurrency, acceptedAt, subjectKind: kind, subjectId: id } = gateWaits;
  const parts = db
    .select({
      barrier,
      failureClass,
      currency: priceCurrency,
      amount: sql<string | null>`sum(${gateWaits.priceAmount})::text`.as('amount'),
      count: count().as('count'),
    })
    .from(gateWaits)
    .where(IS_HELD)
    .groupBy(barrier, failureClass, priceCurrency)
    .as('parts');
  // Found by an index: to remember the oldest beside the sums would need a sort of all rows.
  const oldest = db
    .select({ kind, id, acceptedAt })
    .from(gateWaits)
    .where(and(eq(barrier, parts.barrier), eq(failureClass, parts.failureClass), IS_HELD))
    .orderBy(asc(acceptedAt), asc(id))
    .limit(1)
    .as('oldest');
  const rows = await db
    .select({
      barrier: parts.barrier,
      failureClass: parts.failureClass,
      currency: parts.currency,
      amount: parts.amount,
      count: parts.count,
      oldest: { kind: oldest.kind, id: oldest.id, acceptedAt: oldest.acceptedAt },
    })
    .from(parts)
    .crossJoinLateral(oldest)
    .orderBy(asc(oldest.acceptedAt), asc(parts.currency));
  const groups = Map.groupBy(rows, (row) => `${row.barrier} ${row.failureClass}`);
  return [...groups.values()].flatMap((same) => {
    const [first] = same;
    if (first === undefined) return [];
    return {
      barrier: first.barrier,
      failureClass: first.failureClass,
      count: same.reduce((sum, part) => sum + part.count, 0),
      oldest: first.oldest,
      needed: knownMoney(same),
      withoutPrice: same.reduce((sum, part) => sum + (part.amount === null ? part.count : 0), 0),
    };
  });
}

function knownMoney(parts: readonly { readonly amount: string | null; readonly currency: string | null }[]): Money[] {
  return parts.flatMap(({ amount, currency }) => (amount === null || currency === null ? [] : [{ amount, currency }]));
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
      cost: knownMoney(parts),
    };
  });
}

export interface ForeseenHold {
  readonly failure: FailureClass;
  /** Absent when the meaning of the class says everything. */
  readonly detail?: string;
}

/**
 * By the comparisons of the gate itself. Nothing is reserved and the wallet is not read, so the answer may differ at
 * the send. `apiKeyId` is the first key of the lineage. Without `seesAll` the caller learns neither what all keys
 * spend nor what happened to others' orders.
 */
export async function foreseenHolds(
  db: Executor,
  purchase: {
    readonly kind: WorkKind;
    readonly product: number;
    readonly price: Money;
    readonly apiKeyId: string;
    readonly seesAll: boolean;
  },
  { policy, now }: { readonly policy: GatePolicy; readonly now: number },
): Promise<readonly ForeseenHold[]> {
  const { kind, product, price, apiKeyId, seesAll } = purchase;
  const account = await readAccount(db, { day: spendDay(now), apiKeyId, currency: price.currency });
  // A wallet that was not read lately is not known, as for the gate itself.
  const wallet = judgeWallet(account, price, new Date(now), policy);
  const holds = new Set<FailureClass>();
  const isPaused = pauseFor(await activePauses(db), kind, []) !== undefined;
  const heldByDrift = isPaused ? undefined : await foreseenAtDriftStop(db, { kind, product, now }, policy);
  if (isPaused) holds.add('purchases_paused');
  for (const row of await listCircuits(db)) {
    // A purchase with reserved money passes this circuit.
    if (row.name === 'insufficient_balance' && wallet === 'reserved') continue;
    const isOldest = (await firstInQueue(db, `circuit:${row.name}`)) === undefined;
    const candidate = { isCanary: false, isWaiting: false, isOldest, isReleased: false };
    if (judgeAtCircuit(row, candidate, now) === 'hold') holds.add(row.name);
  }
  if (typeof wallet !== 'string') holds.add('insufficient_balance');
  const overLimit = limitProblem(account, price, policy);
  const isOwn = limitProblem(account, price, { spendLimit: undefined }) === overLimit;
  return [
    ...[...holds].map((failure) => ({ failure })),
    ...(heldByDrift === undefined
      ? []
      : [{ failure: 'purchases_paused' as const, ...(seesAll && { detail: heldByDrift }) }]),
    ...(overLimit === undefined
      ? []
      : [{ failure: 'spend_limit_reached' as const, ...((seesAll || isOwn) && { detail: overLimit }) }]),
  ];
}
