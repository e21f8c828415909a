import { eq, inArray, sql } from 'drizzle-orm';
import type { WorkRef } from '#domain/work.ts';
import type { Executor } from '#db/database.ts';
import { outbox, type OutboxTopic } from '#db/schema.ts';

export type OutboxRow = typeof outbox.$inferSelect;

/** Asks, in the transaction that makes it necessary, that the workflow of a piece of work be started. */
export async function requestStart(tx: Executor, work: WorkRef): Promise<void> {
  await request(tx, 'start_work', work);
}

/** Asks, in the transaction of what a person did, that the workflow look at it. */
export async function requestWake(tx: Executor, work: WorkRef): Promise<void> {
  await request(tx, 'wake_work', work);
}

async function request(tx: Executor, topic: OutboxTopic, { kind, id }: WorkRef): Promise<void> {
  await tx.insert(outbox).values({ topic, subjectKind: kind, subjectId: id }).onConflictDoNothing();
}

/** Takes rows for a while, oldest first; what is not settled when the lease ends comes again. */
export async function takeOutbox(db: Executor, options: { batch: number; leaseMs: number; now: Date }): Promise<OutboxRow[]> {
  // A CTE runs once; see `takePending` of `inbox.ts`.
  const due = db.$with('due').as(
    db
      .select({ id: outbox.id })
      .from(outbox)
      .where(sql`${outbox.availableAt} <= ${options.now}`)
      .orderBy(outbox.availableAt, outbox.id)
      .limit(options.batch)
      .for('update', { skipLocked: true }),
  );
  const rows = await db
    .with(due)
    .update(outbox)
    .set({ availableAt: new Date(options.now.getTime() + options.leaseMs), tries: sql`${outbox.tries} + 1` })
    .where(inArray(outbox.id, db.select({ id: due.id }).from(due)))
    .returning();
  return rows.toSorted((left, right) => (left.id < right.id ? -1 : 1));
}

/** The rows were handed over. */
export async function settleOutbox(db: Executor, rowIds: readonly bigint[]): Promise<void> {
  if (rowIds.length > 0) await db.delete(outbox).where(inArray(outbox.id, [...rowIds]));
}

/** The row could not be handed over now. @param retryAt when it is tried again. */
export async function postponeOutbox(db: Executor, row: OutboxRow, error: string, retryAt: Date): Promise<void> {
  await db.update(outbox).set({ lastError: error, availableAt: retryAt }).where(eq(outbox.id, row.id));
}
