import { sql, WithSubquery, type SQL, type SQLWrapper } from 'drizzle-orm';
import { noteFilled, type Queue } from '#db/connection/after-commit.ts';
import type { Executor } from '#db/connection/database.ts';

/** A write that is not run by itself: see {@link alongside}. */
export interface Write {
  readonly statement: SQLWrapper;
  /** The queue in which the written rows wait. The statement then returns a row for each of them. */
  readonly fills?: Queue;
}

/**
 * Writes that PostgreSQL runs as part of another statement, in one round trip: `tx.with(...alongside(…)).update(…)`.
 *
 * All of them see the rows as they were before the statement. So none may touch a row that another one of them writes,
 * or depend on it. If one of them may fill a queue, the statement returns {@link queuesFilled}, and the caller notes
 * it.
 */
export function alongside(writes: readonly Write[]): WithSubquery[] {
  return writes.map(({ statement }, index) => new WithSubquery(sql`${statement.getSQL()}`, {}, nameOf(index), true));
}

/**
 * The queues that the writes of a statement have filled, for its `returning`.
 * @param writes as in {@link alongside}.
 */
export function queuesFilled(writes: readonly Write[]): SQL<Queue[]> {
  const filled = writes.flatMap(({ fills }, index) =>
    fills === undefined ? [] : [sql`case when exists (select from ${sql.identifier(nameOf(index))}) then ${fills} end`],
  );
  return sql`array_remove(array[${sql.join(filled, sql`, `)}]::text[], null)`;
}

/** Runs writes by themselves, one after the other. */
export async function runWrites(tx: Executor, writes: readonly Write[]): Promise<void> {
  for (const { statement, fills } of writes) {
    const { rows } = await tx.execute(statement);
    if (fills !== undefined && rows.length > 0) noteFilled(tx, fills);
  }
}

function nameOf(index: number): string {
  return `write_${index + 1}`;
}
