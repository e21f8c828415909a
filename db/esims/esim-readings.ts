/** Readings of eSIMs at the service, and when each is due again. */
import { and, asc, eq, lte, sql } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { esims, esimUsage } from '#db/schema.ts';
import type { EsimRow } from '#db/work/rows.ts';
import type { DataUsage } from '#domain/esims/thresholds.ts';

export type EsimUsageRow = typeof esimUsage.$inferSelect;

/** eSIMs that are due, the longest due first. */
export async function esimsToLookAt(db: Executor, now: Date, limit: number): Promise<EsimRow[]> {
  return db
    .select()
    .from(esims)
    .where(lte(esims.watchDueAt, now))
    .orderBy(asc(esims.watchDueAt), asc(esims.id))
    .limit(limit);
}

/** Sets the next read, also after a failed one, so that the eSIM is not first in the queue again. */
export async function lookAgainAt(tx: Executor, id: string, at: Date | null): Promise<void> {
  await tx.update(esims).set({ watchDueAt: at }).where(eq(esims.id, id));
}

/** The state of an eSIM as the service reports it. */
export interface EsimState {
  readonly status: string;
  readonly installedAt: Date | null;
  readonly activatedAt: Date | null;
  readonly expiresAt: Date | null;
  readonly iccid?: string | null;
}

/** Stores the reported state of an eSIM. A cancelled eSIM stays cancelled: an older answer may still arrive. */
export async function storeEsimState(tx: Executor, id: string, facts: EsimState, readAt: Date): Promise<void> {
  const { status, installedAt, activatedAt, expiresAt, iccid = null } = facts;
  // `updated_at` changes only with the state, not with every read.
  const isNews = sql`(${esims.status}, ${esims.installedAt}, ${esims.activatedAt}, ${esims.expiresAt})
    is distinct from (${status}::text, ${installedAt}::timestamptz, ${activatedAt}::timestamptz,
      ${expiresAt}::timestamptz)`;
  await tx
    .update(esims)
    .set({
      status,
      installedAt,
      activatedAt,
      expiresAt,
      readAt: readAt,
      iccid: sql`coalesce(${esims.iccid}, ${iccid})`,
      updatedAt: sql`case when ${isNews} then now() else ${esims.updatedAt} end`,
    })
    .where(and(eq(esims.id, id), sql`${esims.status} <> 'cancelled'`, lte(esims.readAt, readAt)));
}

/** A reading of the data of an eSIM. */
export interface UsageReading extends DataUsage {
  readonly measuredAt: Date | null;
  readonly readAt: Date;
}

/** Stores a reading, unless a newer one is stored. */
export async function storeUsage(
  tx: Executor,
  esimId: string,
  { usedMb, totalMb, measuredAt, readAt }: UsageReading,
): Promise<void> {
  const reading = {
    usedMb,
    totalMb: totalMb ?? null,
    unlimited: totalMb === undefined ? null : totalMb === null,
    measuredAt,
    readAt,
  };
  await tx
    .insert(esimUsage)
    .values({ esimId, ...reading })
    .onConflictDoUpdate({ target: esimUsage.esimId, set: reading, setWhere: lte(esimUsage.readAt, readAt) });
}

/** The newest stored reading. */
export async function storedUsage(db: Executor, esimId: string): Promise<EsimUsageRow | undefined> {
  const [row] = await db.select().from(esimUsage).where(eq(esimUsage.esimId, esimId));
  return row;
}

/** The same as a reading. */
export async function storedReading(db: Executor, esimId: string): Promise<UsageReading | undefined> {
  const row = await storedUsage(db, esimId);
  if (row === undefined) return undefined;
  const { usedMb, totalMb, unlimited, measuredAt, readAt } = row;
  return { usedMb, totalMb: totalMb ?? (unlimited === true ? null : undefined), measuredAt, readAt };
}
