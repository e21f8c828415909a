import { and, eq, inArray, isNull, sql, type SQL } from 'drizzle-orm';
import { builtOnce } from '#db/connection/built-once.ts';
import type { Executor } from '#db/connection/database.ts';
import { fromNow, PRESENT } from '#db/connection/from-now.ts';
import type { Postponement } from '#db/queues/inbox-queue.ts';
import { outbox } from '#db/schema.ts';
import type { WorkRef } from '#domain/work/kinds.ts';

export type OutboxRow = typeof outbox.$inferSelect;

const insertStart = builtOnce((db) =>
  db
    .insert(outbox)
    .values({ topic: 'start_work', subjectKind: sql.placeholder('kind'), subjectId: sql.placeholder('id') })
    .onConflictDoNothing()
    .prepare('outbox_start'),
);

/** Asks, in the transaction that makes it necessary, that the workflow of a piece of work be started. */
export async function requestStart(tx: Executor, { kind, id }: WorkRef): Promise<void> {
  await insertStart(tx, { kind, id });
}

/**
 * Asks, in the transaction of what a person did, that the workflow look at it. A wish that the relay has in hand
 * already may have been carried out before this transaction commits. Counted as a try, it is not the wish in hand, and
 * is carried out as well.
 */
export async function requestWake(tx: Executor, { kind, id }: WorkRef): Promise<void> {
  await tx
    .insert(outbox)
    .values({ topic: 'wake_work', subjectKind: kind, subjectId: id })
    .onConflictDoUpdate({
      target: [outbox.topic, outbox.subjectKind, outbox.subjectId],
      // A request that was quarantined is tried again: a person acted since, perhaps on what was wrong.
      set: { tries: sql`${outbox.tries} + 1`, availableAt: sql`now()`, quarantinedAt: null },
    });
}

/** True while a wish that the workflow look at the work is on its way to it. */
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

/** Takes rows for a while, oldest first; what is not settled when the lease ends comes again. */
export async function takeOutbox(
  db: Executor,
  options: { readonly batch: number; readonly leaseMs: number },
): Promise<OutboxRow[]> {
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
    .returning();
  return rows.toSorted((left, right) => (left.id < right.id ? -1 : 1));
}

/** The rows were handed over. One that was asked for anew meanwhile stays: nobody has acted upon that wish yet. */
export async function settleOutbox(db: Executor, rows: readonly Pick<OutboxRow, 'id' | 'tries'>[]): Promise<void> {
  if (rows.length === 0) return;
  await db.delete(outbox).where(sql`(${outbox.id}, ${outbox.tries}) in (${taken(rows)})`);
}

/** The row could not be handed over now; one that was asked for anew meanwhile does not wait. */
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

/** Gives rows back that were taken and not begun: another relay may take them at once. */
export async function releaseOutbox(db: Executor, rows: readonly Pick<OutboxRow, 'id' | 'tries'>[]): Promise<void> {
  if (rows.length === 0) return;
  await db
    .update(outbox)
    .set({ availableAt: fromNow(0) })
    .where(sql`(${outbox.id}, ${outbox.tries}) in (${taken(rows)})`);
}

/** The rows with the count of takings that they were taken with: one that was taken or asked for anew has another. */
function taken(rows: readonly Pick<OutboxRow, 'id' | 'tries'>[]): SQL {
  return sql.join(
    rows.map(({ id, tries }) => sql`(${id}::bigint, ${tries}::integer)`),
    sql`, `,
  );
}
