import { sql, WithSubquery, type SQL, type SQLWrapper } from 'drizzle-orm';
import { noteFilled, type Queue } from '#db/connection/after-commit.ts';
import type { Executor } from '#db/connection/database.ts';

export interface Write {
  readonly statement: SQLWrapper;
  readonly fills?: Queue;
}

/**
 * Writes that PostgreSQL runs as part of another statement: `tx.with(...alongside(…)).update(…)`. All see the rows as
 * before the statement: none may touch a row that another one writes, or depend on it. If one may fill a queue, the
 * statement returns {@link queuesFilled}, and the caller notes it.
 */
export function alongside(writes: readonly Write[]): WithSubquery[] {
  return writes.map(({ statement }, index) => new WithSubquery(sql`${statement.getSQL()}`, {}, nameOf(index), true));
}

export function queuesFilled(writes: readonly Write[]): SQL<Queue[]> {
  const filled = writes.flatMap(({ fills }, index) =>
    fills === undefined ? [] : [sql`case when exists (select from ${sql.identifier(nameOf(index))}) then ${fills} end`],
  );
  return sql`array_remove(array[${sql.join(filled, sql`, `)}]::text[], null)`;
}

export async function runWrites(tx: Executor, writes: readonly Write[]): Promise<void> {
  for (const { statement, fills } of writes) {
    const { rows } = await tx.execute(statement);
    if (fills !== undefined && rows.length > 0) noteFilled(tx, fills);
  }
}

function nameOf(index: number): string {
  return `write_${index + 1}`;
}
