/** Reading and locking the row of work of any kind. */
import { eq } from 'drizzle-orm';
import { DATABASE_EPOCH } from '#db/connection/database-epoch.ts';
import type { Executor } from '#db/connection/database.ts';
import { workTable, type WorkRow } from '#db/work/kinds.ts';
import { KINDS, type WorkRef } from '#domain/work/kinds.ts';
import { isFinal, type WorkStatus } from '#domain/work/lifecycle.ts';

/** The work has ended and must not change any more. */
export class WorkFinishedError extends Error {
  readonly work: WorkRef;
  readonly status: WorkStatus;

  constructor(work: WorkRef, status: WorkStatus) {
    super(`${KINDS[work.kind].noun} ${work.id} has ended as ${status}`);
    this.name = 'WorkFinishedError';
    this.work = work;
    this.status = status;
  }
}

/** A stored row is missing: this is another database, or PostgreSQL has lost commits. */
export class RowMissingError extends Error {}

/** The work is not in the database: it was never accepted, or its row is lost. */
export class WorkMissingError extends RowMissingError {
  constructor({ kind, id }: WorkRef) {
    super(`${KINDS[kind].noun} ${id} does not exist in this database`);
    this.name = 'WorkMissingError';
  }
}

/** @throws WorkMissingError */
export async function readWork(db: Executor, work: WorkRef): Promise<WorkRow> {
  const table = workTable(work.kind);
  const [row] = await db.select().from(table).where(eq(table.id, work.id));
  if (row === undefined) throw new WorkMissingError(work);
  return row;
}

/** True when work has ended. @throws WorkMissingError */
export async function hasEnded(db: Executor, work: WorkRef): Promise<boolean> {
  return isFinal((await readWork(db, work)).status);
}

/** Reads and locks work. Callers that change work and an attempt lock the work first. @throws WorkMissingError */
export async function lockWork(tx: Executor, work: WorkRef): Promise<WorkRow> {
  const table = workTable(work.kind);
  const [row] = await tx.select().from(table).where(eq(table.id, work.id)).for('update');
  if (row === undefined) throw new WorkMissingError(work);
  return row;
}

/**
 * Reads and locks work that has not ended, with the present epoch of the database.
 * @throws as of {@link lockUnfinishedWork}
 */
export async function lockWorkInEpoch(
  tx: Executor,
  work: WorkRef,
): Promise<{ readonly row: WorkRow; readonly epoch: string }> {
  const table = workTable(work.kind);
  const [locked] = await tx
    .select({ row: table, epoch: DATABASE_EPOCH })
    .from(table)
    .where(eq(table.id, work.id))
    .for('update');
  if (locked === undefined) throw new WorkMissingError(work);
  return { ...locked, row: unfinished(work, locked.row) };
}

/** Reads and locks work that has not ended. @throws WorkMissingError, WorkFinishedError */
export async function lockUnfinishedWork(tx: Executor, work: WorkRef): Promise<WorkRow> {
  return unfinished(work, await lockWork(tx, work));
}

function unfinished(work: WorkRef, row: WorkRow): WorkRow {
  if (isFinal(row.status)) throw new WorkFinishedError(work, row.status);
  return row;
}
