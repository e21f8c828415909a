import { eq, gt, inArray, lt, sql, type SQL, type SQLWrapper } from 'drizzle-orm';
import type { AnyPgColumn, PgTable } from 'drizzle-orm/pg-core';

/** Of the last item of a page, in a list by this time. */
export type PagePosition<Time extends string = 'createdAt'> = Readonly<Record<Time, Date>> & { readonly id: string };

/** `after`: what names the last item of the page before. */
export interface PageOptions<After = PagePosition> {
  readonly limit: number;
  readonly after?: After | undefined;
}

/** All exclusive. */
export interface TimeFilter {
  readonly createdAfter?: Date | undefined;
  readonly createdBefore?: Date | undefined;
  readonly updatedAfter?: Date | undefined;
}

export function withinTimes(
  { createdAt, updatedAt }: Readonly<Record<'createdAt' | 'updatedAt', AnyPgColumn>>,
  { createdAfter, createdBefore, updatedAfter }: TimeFilter,
): (SQL | undefined)[] {
  return [
    createdAfter && gt(createdAt, createdAfter),
    createdBefore && lt(createdAt, createdBefore),
    updatedAfter && gt(updatedAt, updatedAfter),
  ];
}

/** Undefined where the filter has no value. */
export function matches(column: AnyPgColumn, value: unknown): SQL | undefined {
  return value === undefined ? undefined : eq(column, value);
}

/**
 * No index gives several statuses in the order of the list, but each status has one.
 * @param inPage all other conditions; applied before the first few of each status are taken.
 */
export function pageOfStatuses(
  table: PgTable & Readonly<Record<'id' | 'status' | 'createdAt', AnyPgColumn>>,
  statuses: readonly string[] | undefined,
  inPage: SQL | undefined,
  limit: number,
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

/** The rows of the next page, in the order of {@link newest}. Undefined: the page is the first. */
export function following(createdAt: SQLWrapper, id: SQLWrapper, after: PagePosition | undefined): SQL | undefined {
  return after && sql`(${createdAt}, ${id}) < (${after.createdAt}, ${after.id})`;
}

/** One parameter, so the statement is the same for any number of texts. */
export function oneOf(column: AnyPgColumn, texts: readonly string[]): SQL {
  // The sub-query hides their number. Else PostgreSQL would look in all rows in the order of the list, not in the index
  // of the column.
  return sql`${column} = any(array(select unnest(${sql.param(texts)}::text[])))`;
}

/** Found by the index if rare, else by reading the newest rows: PostgreSQL plans it by the value. */
export function hasPairs(column: AnyPgColumn, pairs: unknown): SQL {
  // The first part is the condition of the index.
  return sql`${column} <> '{}'::jsonb and ${column} @> ${sql.param(pairs)}::jsonb`;
}
