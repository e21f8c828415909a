/** The drift stop at the gate; its rules are in `domain/gate/drift.ts`. */
import { and, eq, inArray, isNull, sql, asc, ne, notInArray, type SQL } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { noteProbe } from '#db/gate/waits.ts';
import { requestWake } from '#db/queues/outbox.ts';
import { attempts, gateDrifts, vpnSubscriptions, gateLines, gateWaits } from '#db/schema.ts';
import { currentAttempt } from '#db/work/attempts.ts';
import { workTable, readWork, PRODUCT_COLUMNS } from '#db/work/rows.ts';
import { readVpnSubscription } from '#db/work/vpn-subscriptions.ts';
import {
  afterLook,
  afterSend,
  judgeAtDriftStop,
  LONGEST_FILL_MS,
  driftStopSentences,
  nextCanary,
  withoutCanary,
  type CanaryFate,
  type DriftStop,
} from '#domain/gate/drift.ts';
import type { Barrier, GateStop } from '#domain/gate/purchase-gate.ts';
import type { GatePolicy } from '#domain/policy/gate-policy.ts';
import { isOutcomeUnknown, type SendCandidate } from '#domain/purchase/send-claim.ts';
import { PURCHASE_KINDS, type PurchaseKind, type WorkRef } from '#domain/work/kinds.ts';
import { isFinal } from '#domain/work/lifecycle.ts';

export type DriftStopRow = typeof gateLines.$inferSelect;

interface Asker {
  readonly work: WorkRef;
  readonly attempt: Pick<SendCandidate, 'state' | 'anyUnknown'>;
  readonly now: number;
}

/** Undefined when the purchase may pass. Changes nothing. */
export async function stopAtDrift(tx: Executor, asker: Asker, policy: GatePolicy): Promise<GateStop | undefined> {
  const row = await findDriftStop(tx, asker.work.kind);
  return row && (await judge(tx, row, asker, policy)).stop;
}

/** In the transaction that claims the send: takes the turn of the canary, so that no other purchase goes beside it. */
export async function passDriftStop(tx: Executor, asker: Asker, policy: GatePolicy): Promise<GateStop | undefined> {
  const known = await findDriftStop(tx, asker.work.kind);
  if (known === undefined || known.state === 'open') return undefined;
  const row = await lockDriftStop(tx, known.kind);
  const { stop, canaryOf } = await judge(tx, row, asker, policy);
  const { now, work } = asker;
  if (canaryOf !== undefined)
    await storeDriftStop(tx, row, afterSend(row, { id: work.id, product: canaryOf }, now), now);
  return stop;
}

/** Undefined when the purchase would pass. */
export async function foreseenAtDriftStop(
  db: Executor,
  { kind, product, now }: { readonly kind: WorkRef['kind']; readonly product: number; readonly now: number },
  policy: GatePolicy,
): Promise<string | undefined> {
  const row = await findDriftStop(db, kind);
  if (row === undefined) return undefined;
  const isFirst = (await firstWaiting(db, row.kind)) === undefined;
  const answer = judgeAtDriftStop(row, { id: '', product, mayHaveBought: false, isFirst }, now, policy);
  return answer === 'hold' ? holdText(row) : undefined;
}

/** A purchase that is held elsewhere is no canary any more. */
export async function leaveDriftStop(tx: Executor, work: WorkRef, now: number): Promise<void> {
  const known = await findDriftStop(tx, work.kind);
  if (known?.canaries.some(({ id }) => id === work.id) !== true) return;
  const row = await lockDriftStop(tx, known.kind);
  await storeDriftStop(tx, row, withoutCanary(row, work.id), now);
}

/** @returns the stop, or the product of a purchase that goes as the canary. */
async function judge(
  tx: Executor,
  row: DriftStopRow,
  { work, attempt, now }: Asker,
  policy: GatePolicy,
): Promise<{ readonly stop?: GateStop; readonly canaryOf?: number }> {
  const { kind } = row;
  const table = workTable(kind);
  const ofWork = eq(table.id, work.id);
  const [ordered] = await tx
    .select({ product: productColumn(kind) })
    .from(table)
    .where(ofWork);
  if (ordered === undefined) return {};
  const { product } = ordered;
  const first = await firstWaiting(tx, kind);
  const isFirst = first === undefined || first.id === work.id;
  const candidate = { id: work.id, product, mayHaveBought: isOutcomeUnknown(attempt), isFirst };
  const answer = judgeAtDriftStop(row, candidate, now, policy);
  if (answer === 'pass') return {};
  if (answer === 'canary') return { canaryOf: product };
  const detail = holdText(row);
  return { stop: { barrier: `drift:${kind}`, failure: 'purchases_paused', detail, recheckMs: policy.recheckMs } };
}

function holdText(row: DriftStopRow): string {
  const { stops, end } = driftStopSentences(row.kind, row);
  return [stops, row.detail, end].filter((text) => text !== null).join(' ');
}

/** Settles drifted purchases, ends stops, and calls canaries, which it returns. */
export async function tendDriftStops(tx: Executor, now: number, policy: GatePolicy): Promise<WorkRef[]> {
  const called: WorkRef[] = [];
  for (const kind of PURCHASE_KINDS) {
    const isOpen = ((await findDriftStop(tx, kind))?.state ?? 'open') === 'open';
    if (isOpen && (await openDrifts(tx, kind)).length === 0) continue;
    const canary = await tendDriftStop(tx, await lockDriftStop(tx, kind), now, policy);
    if (canary !== undefined) called.push(canary);
  }
  return called;
}

async function tendDriftStop(
  tx: Executor,
  row: DriftStopRow,
  now: number,
  policy: GatePolicy,
): Promise<WorkRef | undefined> {
  const { kind } = row;
  const drifts = await openDrifts(tx, kind);
  // Delivered by now, or ended otherwise: their attempt bought nothing after all.
  const over = drifts.filter(
    ({ completedAt, status, costNothing }) => completedAt !== null || isFinal(status) || costNothing,
  );
  const ids = over.map(({ id }) => id);
  if (ids.length > 0)
    await tx
      .update(gateDrifts)
      .set({ settledAt: sql`clock_timestamp()` })
      .where(and(eq(gateDrifts.subjectKind, kind), inArray(gateDrifts.subjectId, ids)));
  const fills = over.flatMap(({ completedAt, unfilledSince, hasDelivery: has }) =>
    completedAt !== null && has && unfilledSince !== null ? [completedAt.getTime() - unfilledSince.getTime()] : [],
  );
  const longestFillMs = Math.max(row.longestFillMs, Math.min(LONGEST_FILL_MS, Math.max(0, ...fills)));
  const unproven = over.filter(({ completedAt, hasDelivery: has }) => completedAt === null || !has);
  const parked = drifts.filter((drift) => !over.includes(drift) && drift.driftedAt !== null);
  const fates = new Map<string, CanaryFate>();
  for (const { id, sentAt } of row.canaries) if (sentAt !== null) fates.set(id, await fateOf(tx, { kind, id }));
  const facts = {
    fates,
    parkedProducts: new Set(parked.map(({ product }) => product)),
    unprovenProducts: new Set(unproven.map(({ product }) => product)),
  };
  let driftStop = afterLook(row, facts, now, policy);
  // Both ends of the queue: work of stopped products must not hide the others.
  const other = await firstWaiting(tx, kind, driftStop.stoppedProducts);
  const first = await firstWaiting(tx, kind);
  const stopped = first !== undefined && driftStop.stoppedProducts.includes(first.product) ? first : undefined;
  const waiting = [other, stopped].filter((each) => each !== undefined);
  const next = nextCanary(driftStop, waiting, now, policy);
  if (next !== undefined) {
    driftStop = { ...driftStop, canaries: [...driftStop.canaries, { ...next, calledAt: now, sentAt: null }] };
    await noteProbe(tx, { kind, id: next.id });
    await requestWake(tx, { kind, id: next.id });
  }
  await storeDriftStop(tx, row, driftStop, now, { longestFillMs });
  return next && { kind, id: next.id };
}

async function openDrifts(tx: Executor, kind: PurchaseKind) {
  const table = workTable(kind);
  return tx
    .select({
      id: gateDrifts.subjectId,
      product: gateDrifts.product,
      unfilledSince: gateDrifts.unfilledSince,
      driftedAt: gateDrifts.driftedAt,
      status: table.status,
      completedAt: table.completedAt,
      costNothing: sql<boolean>`${attempts.state} = 'failed' and ${attempts.settled}`,
      // A subscription may have ended without access data.
      hasDelivery:
        kind === 'vpn_subscription'
          ? sql<boolean>`${vpnSubscriptions.encryptedAccess} is not null`
          : sql<boolean>`true`,
    })
    .from(gateDrifts)
    .innerJoin(table, eq(table.id, gateDrifts.subjectId))
    .innerJoin(attempts, eq(attempts.id, gateDrifts.attemptId))
    .where(and(eq(gateDrifts.subjectKind, kind), isNull(gateDrifts.settledAt)));
}

async function fateOf(tx: Executor, work: WorkRef): Promise<CanaryFate> {
  const { status, completedAt } = await readWork(tx, work);
  if (completedAt !== null) {
    // A subscription may have ended without access data.
    const isEmpty =
      work.kind === 'vpn_subscription' && (await readVpnSubscription(tx, work.id)).encryptedAccess === null;
    return isEmpty ? 'passed_on' : 'whole';
  }
  if (isFinal(status)) return 'passed_on';
  const attempt = await currentAttempt(tx, work);
  const hasBoughtNothing =
    attempt === undefined ||
    attempt.state === 'prepared' ||
    attempt.state === 'refused' ||
    (attempt.state === 'failed' && attempt.settled);
  return hasBoughtNothing ? 'passed_on' : 'pending';
}

export async function driftStopsInForce(db: Executor): Promise<DriftStopRow[]> {
  return db.select().from(gateLines).where(ne(gateLines.state, 'open')).orderBy(asc(gateLines.kind));
}

/** Undefined when it was never stopped, and for cancellations. */
export async function findDriftStop(db: Executor, kind: WorkRef['kind']): Promise<DriftStopRow | undefined> {
  if (kind === 'cancellation') return undefined;
  const [row] = await db.select().from(gateLines).where(eq(gateLines.kind, kind));
  return row;
}

/** Creates it if it has no row. */
export async function lockDriftStop(tx: Executor, kind: PurchaseKind): Promise<DriftStopRow> {
  await tx.insert(gateLines).values({ kind }).onConflictDoNothing();
  const [row] = await tx.select().from(gateLines).where(eq(gateLines.kind, kind)).for('update');
  if (row === undefined) throw new Error(`the drift stop of ${kind} cannot be read back`);
  return row;
}

/** `row` is as it was locked. */
export async function storeDriftStop(
  tx: Executor,
  row: DriftStopRow,
  driftStop: DriftStop,
  now: number,
  further: Partial<Pick<DriftStopRow, 'detail' | 'longestFillMs'>> = {},
): Promise<void> {
  const times = driftStop.state === 'open' ? { since: null, detail: null } : { since: row.since ?? new Date(now) };
  await tx
    .update(gateLines)
    .set({ ...driftStop, ...times, ...further })
    .where(eq(gateLines.kind, row.kind));
}

/** The oldest of those that were the canary least often. */
async function firstWaiting(
  tx: Executor,
  kind: PurchaseKind,
  except: readonly number[] = [],
): Promise<{ readonly id: string; readonly product: number } | undefined> {
  const product = productColumn(kind);
  const [first] = await tx
    .select({ id: gateWaits.subjectId, product })
    .from(gateWaits)
    .innerJoin(workTable(kind), eq(workTable(kind).id, gateWaits.subjectId))
    .where(
      and(
        eq(gateWaits.subjectKind, kind),
        eq(gateWaits.barrier, `drift:${kind}` satisfies Barrier),
        notInArray(product, [...except]),
      ),
    )
    .orderBy(asc(gateWaits.probes), asc(gateWaits.acceptedAt))
    .limit(1);
  return first;
}

export function isOfOtherProduct(kind: PurchaseKind, products: readonly number[]): SQL {
  if (products.length === 0) return sql`true`;
  const others = and(eq(workTable(kind).id, gateWaits.subjectId), notInArray(productColumn(kind), [...products]));
  return sql`exists (select from ${workTable(kind)} where ${others})`;
}

export function productColumn(kind: PurchaseKind): SQL<number> {
  return sql<number>`${PRODUCT_COLUMNS[kind]}`;
}
