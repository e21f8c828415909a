import { and, asc, eq, not, sql } from 'drizzle-orm';
import { cataloguePrice } from '#db/catalogue/catalogue.ts';
import { noteRowsAdded } from '#db/connection/after-commit.ts';
import type { Executor } from '#db/connection/database.ts';
import { gateCircuits, gateDrifts, gateLines, gateOverrides, gateWaits } from '#db/schema.ts';
import type { Barrier } from '#domain/gate/purchase-gate.ts';
import type { Money } from '#domain/money/money.ts';
import type { WorkRef } from '#domain/work/kinds.ts';

export type GateWait = typeof gateWaits.$inferSelect;

/** Without a price, the stored catalogue is asked. */
export type Waiting = Pick<GateWait, 'barrier' | 'failureClass' | 'acceptedAt' | 'apiKeyId' | 'mayHaveBought'> &
  Partial<Pick<GateWait, 'probes'>> & { readonly work: WorkRef; readonly price?: Money | undefined };

/** Queued work keeps its place. */
export async function enqueue(tx: Executor, { work, price, ...wait }: Waiting, now: Date): Promise<void> {
  const { barrier, failureClass, mayHaveBought } = wait;
  const known = price ?? (await cataloguePrice(tx, work));
  const priced = known && { priceAmount: known.amount, priceCurrency: known.currency };
  await tx
    .insert(gateWaits)
    .values({ subjectKind: work.kind, subjectId: work.id, ...wait, since: now, ...priced })
    .onConflictDoUpdate({
      target: [gateWaits.subjectKind, gateWaits.subjectId],
      set: { barrier, failureClass, mayHaveBought, ...priced },
    });
  noteRowsAdded(tx, 'gate');
}

/** Held work has certainly not bought. */
export const IS_HELD = not(gateWaits.mayHaveBought);

export const GATE_IN_USE = sql<boolean>`(exists (select from ${gateWaits})
  or exists (select from ${gateCircuits} where ${gateCircuits.state} <> 'closed')
  or exists (select from ${gateLines} where ${gateLines.state} <> 'open')
  or exists (select from ${gateDrifts} where ${gateDrifts.settledAt} is null))`;

export async function isGateInUse(db: Executor): Promise<boolean> {
  const { rows } = await db.execute<{ in_use: boolean }>(sql`select ${GATE_IN_USE} as in_use`);
  return rows[0]?.in_use === true;
}

export async function leaveQueue(tx: Executor, work: WorkRef): Promise<void> {
  await tx.delete(gateWaits).where(ofWork(work));
}

export async function findWait(db: Executor, work: WorkRef): Promise<GateWait | undefined> {
  const [row] = await db.select().from(gateWaits).where(ofWork(work));
  return row;
}

/** The oldest of those that were the canary least often. */
export async function firstInQueue(tx: Executor, barrier: Barrier): Promise<GateWait | undefined> {
  const [row] = await tx
    .select()
    .from(gateWaits)
    .where(eq(gateWaits.barrier, barrier))
    .orderBy(asc(gateWaits.probes), asc(gateWaits.acceptedAt))
    .limit(1);
  return row;
}

export async function queuedBarriers(db: Executor): Promise<Barrier[]> {
  const rows = await db.selectDistinct({ barrier: gateWaits.barrier }).from(gateWaits).orderBy(gateWaits.barrier);
  return rows.map(({ barrier }) => barrier);
}

export async function queuedKeys(db: Executor, barrier: Barrier): Promise<string[]> {
  const rows = await db
    .selectDistinct({ id: gateWaits.apiKeyId })
    .from(gateWaits)
    .where(eq(gateWaits.barrier, barrier))
    .orderBy(gateWaits.apiKeyId);
  return rows.map(({ id }) => id);
}

export async function noteProbe(tx: Executor, work: WorkRef): Promise<void> {
  await tx
    .update(gateWaits)
    .set({ probes: sql`${gateWaits.probes} + 1` })
    .where(ofWork(work));
}

/** Valid until the work has passed. @returns false when it was granted already. */
export async function grantOverride(tx: Executor, work: WorkRef, grantedBy: string, now: Date): Promise<boolean> {
  const rows = await tx
    .insert(gateOverrides)
    .values({ subjectKind: work.kind, subjectId: work.id, grantedBy, grantedAt: now })
    .onConflictDoNothing()
    .returning({ id: gateOverrides.subjectId });
  return rows.length > 0;
}

export async function hasOverride(db: Executor, work: WorkRef): Promise<boolean> {
  return (await db.$count(gateOverrides, isOverrideOf(work))) > 0;
}

export async function consumeOverride(tx: Executor, work: WorkRef): Promise<void> {
  await tx.delete(gateOverrides).where(isOverrideOf(work));
}

/** One statement, since every order leaves the gate at each step and hardly any was in it. */
export async function leaveGate(tx: Executor, work: WorkRef): Promise<void> {
  const override = tx.$with('override').as(tx.delete(gateOverrides).where(isOverrideOf(work)).returning());
  await tx.with(override).delete(gateWaits).where(ofWork(work));
}

function isOverrideOf({ kind, id }: WorkRef) {
  return and(eq(gateOverrides.subjectKind, kind), eq(gateOverrides.subjectId, id));
}

function ofWork({ kind, id }: WorkRef) {
  return and(eq(gateWaits.subjectKind, kind), eq(gateWaits.subjectId, id));
}
