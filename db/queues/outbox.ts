import { and, eq, getTableColumns, inArray, isNull, sql, type SQL } from 'drizzle-orm';
import { noteFilled } from '#db/connection/after-commit.ts';
import { builtOnce } from '#db/connection/built-once.ts';
import type { Executor } from '#db/connection/database.ts';
import { fromNow, PRESENT } from '#db/connection/from-now.ts';
import type { Postponement } from '#db/queues/inbox-queue.ts';
import { outbox } from '#db/schema.ts';
import { startOf, type StoredStart } from '#db/work/rows.ts';
import { WORK_KINDS, type WorkRef } from '#domain/work/kinds.ts';

export type OutboxRow = typeof outbox.$inferSelect;

/** A row under the lease of a relay. */
export interface TakenOutboxRow extends OutboxRow {
  /** What the workflow starts with; null when the row of the work is missing. */
  readonly start: StoredStart | null;
}

const startOfSubject = sql<StoredStart | null>`case ${outbox.subjectKind} ${sql.join(
  WORK_KINDS.map((kind) => sql`when ${sql.raw(`'${kind}'`)} then ${startOf(kind, outbox.subjectId)}`),
  sql` `,
)} end`;

/** Requests the start of a workflow. Placeholders: `subjectKind`, `subjectId`. */
export function startInsert(db: Executor) {
  return db
    .insert(outbox)
    .values({
      topic: 'start_work',
      subjectKind: sql.placeholder('subjectKind'),
      subjectId: sql.placeholder('subjectId'),
    })
    .onConflictDoNothing();
}

const insertStart = builtOnce((db) => startInsert(db).prepare('outbox_start'));

/** Requests the start of a workflow, in the caller's transaction. */
export async function requestStart(tx: Executor, { kind, id }: WorkRef): Promise<void> {
  await insertStart(tx, { subjectKind: kind, subjectId: id });
  noteFilled(tx, 'outbox');
}

/** Requests the start of many workflows in one statement, in the caller's transaction. */
export async function requestStarts(tx: Executor, works: readonly WorkRef[]): Promise<void> {
  const rows = works.map(({ kind, id }) => ({ topic: 'start_work' as const, subjectKind: kind, subjectId: id }));
  await tx.insert(outbox).values(rows).onConflictDoNothing();
  noteFilled(tx, 'outbox');
}

/**
 * Requests a wake of a workflow, in the caller's transaction. The relay may be handing over an earlier request and
 * commit before this transaction. `tries` is increased, so that this request is not settled with that one.
 */
export async function requestWake(tx: Executor, { kind, id }: WorkRef): Promise<void> {
  await tx
    .insert(outbox)
    .values({ topic: 'wake_work', subjectKind: kind, subjectId: id })
    .onConflictDoUpdate({
      target: [outbox.topic, outbox.subjectKind, outbox.subjectId],
      // A quarantined request is tried again: an operator has acted since, perhaps on its cause.
      set: { tries: sql`${outbox.tries} + 1`, availableAt: sql`now()`, quarantinedAt: null },
    });
  noteFilled(tx, 'outbox');
}

/** True while a wake of the workflow is requested and not handed over. */
export async function isWaking(db: Executor, { kind, id }: WorkRef): Promise<boolean> {
  const rows = await db
    .select({ id: outbox.id })
    .from(outbox)
    .where(
      and(
        eq(outbox.topic, 'wake_work'),
        eq(outbox.subjectKind, kind),
        eq(outbox.subjectId, id),
        isNull(outbox.quarantinedAt),
      ),
    );
  return rows.length > 0;
}

/** Takes rows under a lease, oldest first; unsettled rows come again when it ends. */
export async function takeOutbox(
  db: Executor,
  options: { readonly batch: number; readonly leaseMs: number },
): Promise<TakenOutboxRow[]> {
  // A CTE runs once; see `takePending` of `inbox-queue.ts`.
  const due = db.$with('due').as(
    db
      .select({ id: outbox.id })
      .from(outbox)
      .where(and(isNull(outbox.quarantinedAt), sql`${outbox.availableAt} <= ${PRESENT}`))
      .orderBy(outbox.availableAt, outbox.id)
      .limit(options.batch)
      .for('update', { skipLocked: true }),
  );
  const rows = await db
    .with(due)
    .update(outbox)
    .set({ availableAt: fromNow(options.leaseMs), tries: sql`${outbox.tries} + 1` })
    .where(inArray(outbox.id, db.select({ id: due.id }).from(due)))
    .returning({ ...getTableColumns(outbox), start: startOfSubject });
  return rows.toSorted((left, right) => (left.id < right.id ? -1 : 1));
}

/** Deletes handed-over rows. A row that was requested again meanwhile stays. */
export async function settleOutbox(db: Executor, rows: readonly Pick<OutboxRow, 'id' | 'tries'>[]): Promise<void> {
  if (rows.length === 0) return;
  await db.delete(outbox).where(sql`(${outbox.id}, ${outbox.tries}) in (${taken(rows)})`);
}

/** Postpones a row; one that was requested again meanwhile does not wait. */
export async function postponeOutbox(
  db: Executor,
  row: Pick<OutboxRow, 'id' | 'tries'>,
  { error, delayMs, isLasting }: Postponement,
): Promise<void> {
  const counted = isLasting ? { lastingErrors: sql`${outbox.lastingErrors} + 1` } : {};
  await db
    .update(outbox)
    .set({ lastError: error, availableAt: fromNow(delayMs), ...counted })
    .where(and(eq(outbox.id, row.id), eq(outbox.tries, row.tries)));
}

/** Releases taken rows that were not begun, for another relay. */
export async function releaseOutbox(db: Executor, rows: readonly Pick<OutboxRow, 'id' | 'tries'>[]): Promise<void> {
  if (rows.length === 0) return;
  await db
    .update(outbox)
    .set({ availableAt: fromNow(0) })
    .where(sql`(${outbox.id}, ${outbox.tries}) in (${taken(rows)})`);
}

/** The rows with the `tries` of their taking; a row that was taken or requested again has a higher number. */
function taken(rows: readonly Pick<OutboxRow, 'id' | 'tries'>[]): SQL {
  return sql.join(
    rows.map(({ id, tries }) => sql`(${id}::bigint, ${tries}::integer)`),
    sql`, `,
  );
}
