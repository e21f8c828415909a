/** Pages of lists that are filtered by several statuses. */
import { eq, inArray, sql, type SQL, type SQLWrapper } from 'drizzle-orm';
import type { AnyPgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { Given } from '#db/lists/given-values.ts';

/** A table whose lists are ordered by creation, newest first. */
interface Listed extends PgTable {
  readonly id: AnyPgColumn;
  readonly status: AnyPgColumn;
  readonly createdAt: AnyPgColumn;
}

/**
 * The condition of a page of several statuses. No index gives several statuses in the order of the list, but each
 * status has one, and a page needs only the first few of each. So rare statuses among a million rows are as cheap as
 * alone.
 *
 * @param inPage all other conditions; they are applied before the first few of each status are taken.
 */
export function pageOfStatuses(
  table: Listed,
  statuses: readonly Given<string>[] | undefined,
  inPage: SQL | undefined,
  limit: Given<number>,
): SQL | undefined {
  const [only] = statuses ?? [];
  if (statuses === undefined || only === undefined) return inPage;
  const condition = inPage ?? sql`true`;
  if (statuses.length === 1) return sql`${eq(table.status, only)} and ${condition}`;
  const wanted = sql.join(
    [...new Set(statuses)].map((status) => sql`(${status}::text)`),
    sql`, `,
  );
  return inArray(
    table.id,
    sql`(select found.id from (values ${wanted}) as wanted (status) cross join lateral (
      select ${table.id}, ${table.createdAt} from ${table} where ${table.status} = wanted.status and ${condition}
      order by ${newest(table.createdAt, table.id)} limit ${limit}) as found (id, created_at)
      order by ${newest(sql`found.created_at`, sql`found.id`)} limit ${limit})`,
  );
}

/** `nulls last` as in the indexes: without it PostgreSQL would sort all rows for each page. */
export function newest(createdAt: SQLWrapper, id: SQLWrapper): SQL {
  return sql`${createdAt} desc nulls last, ${id} desc nulls last`;
}
