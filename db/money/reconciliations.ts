import { and, desc, eq, gt, inArray, lt, min, sql } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { newest, type PageOptions, type PagePosition } from '#db/lists/pages.ts';
import { installation, reconciliations } from '#db/schema.ts';
import type { ReconciliationStatus } from '#domain/money/books.ts';

export type ReconciliationRow = typeof reconciliations.$inferSelect;

/** Locks until the transaction ends: two reconciliations at once would judge the same movements. */
export async function lockBooks(tx: Executor): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtext('books'))`);
}

/**
 * The last complete read, or the oldest credit that was pending then. At first: when this database was stamped, or 0.
 * @param bounds.overlapMs for late movements.
 * @param bounds.skewMs possible difference of the clocks.
 * @param bounds.reportsKeptMs an older pending credit is not waited for.
 */
export async function unreadSince(
  db: Executor,
  bounds: Readonly<Record<'overlapMs' | 'skewMs' | 'reportsKeptMs' | 'now', number>>,
): Promise<number> {
  const { overlapMs, skewMs, reportsKeptMs, now } = bounds;
  const [last] = await db
    .select({ at: reconciliations.startedAt, pendingSince: reconciliations.pendingSince })
    .from(reconciliations)
    .where(eq(reconciliations.status, 'complete'))
    .orderBy(desc(reconciliations.startedAt))
    .limit(1);
  if (last !== undefined) {
    const pendingSince = Math.max(last.pendingSince?.getTime() ?? Infinity, now - reportsKeptMs);
    return Math.max(0, Math.min(last.at.getTime() - overlapMs, pendingSince));
  }
  const [stamp] = await db.select({ at: installation.stampedAt }).from(installation);
  return stamp === undefined ? 0 : Math.max(0, stamp.at.getTime() - skewMs);
}

export async function findReportOfRun(db: Executor, runId: string): Promise<ReconciliationRow | undefined> {
  const [row] = await db.select().from(reconciliations).where(eq(reconciliations.runId, runId));
  return row;
}

export async function findReconciliation(db: Executor, id: string): Promise<ReconciliationRow | undefined> {
  const [row] = await db.select().from(reconciliations).where(eq(reconciliations.id, id));
  return row;
}

export async function addReconciliation(tx: Executor, report: ReconciliationRow): Promise<void> {
  await tx.insert(reconciliations).values(report).onConflictDoNothing({ target: reconciliations.runId });
}

/** Keeps the newest complete report, which says how far was read. */
export async function forgetReconciliations(tx: Executor, before: Date): Promise<void> {
  const newestComplete = tx
    .select({ id: reconciliations.id })
    .from(reconciliations)
    .where(eq(reconciliations.status, 'complete'))
    .orderBy(desc(reconciliations.startedAt))
    .limit(1);
  await tx
    .delete(reconciliations)
    .where(and(lt(reconciliations.startedAt, before), sql`${reconciliations.id} not in ${newestComplete}`));
}

const NEWEST_FIRST = newest(reconciliations.startedAt, reconciliations.id);

export async function listReconciliations(
  db: Executor,
  filter: {
    readonly status?: readonly ReconciliationStatus[] | undefined;
    readonly startedAfter?: Date | undefined;
    readonly startedBefore?: Date | undefined;
  },
  { limit, after }: PageOptions<PagePosition<'startedAt'>>,
): Promise<ReconciliationRow[]> {
  const { status, startedAfter, startedBefore } = filter;
  return db
    .select()
    .from(reconciliations)
    .where(
      and(
        status && inArray(reconciliations.status, status),
        startedAfter && gt(reconciliations.startedAt, startedAfter),
        startedBefore && lt(reconciliations.startedAt, startedBefore),
        after && sql`(${reconciliations.startedAt}, ${reconciliations.id}) < (${after.startedAt}, ${after.id})`,
      ),
    )
    .orderBy(NEWEST_FIRST)
    .limit(limit);
}

export async function newestReconciliation(
  db: Executor,
  statuses?: readonly ReconciliationStatus[],
): Promise<ReconciliationRow | undefined> {
  const [row] = await db
    .select()
    .from(reconciliations)
    .where(statuses && inArray(reconciliations.status, statuses))
    .orderBy(NEWEST_FIRST)
    .limit(1);
  return row;
}

export async function firstReconciliationAt(db: Executor): Promise<Date | null> {
  const [row] = await db.select({ at: min(reconciliations.startedAt) }).from(reconciliations);
  return row?.at ?? null;
}
