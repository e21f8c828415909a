/** Conditions of list filters, each on a value that is known when the query is built, or on its placeholder. */
import { sql, type SQL } from 'drizzle-orm';
import type { AnyPgColumn } from 'drizzle-orm/pg-core';
import { PLANNED_BY_VALUE } from '#db/connection/prepared-client.ts';

/** Makes the condition of a filter. @param value or its placeholder. */
export type Condition = (value: unknown) => SQL;

/** The column has one of some texts. They are one parameter, so the statement is the same for any number of them. */
export function oneOf(column: AnyPgColumn): Condition {
  // The sub-query hides their number. Else a page of 20 among 100 of them would be looked for in the order of the list,
  // that is in all rows, instead of in the index of the column.
  return (values) => sql`${column} = any(array(select unnest(${sql.param(values)}::text[])))`;
}

/**
 * An object of texts contains all of some pairs. A pair that few rows have is found in the index of the column, one
 * that most rows have by reading the newest rows. PostgreSQL must know which, so the statement is not prepared.
 */
export function hasPairs(column: AnyPgColumn, pairs: unknown): SQL {
  // The first part is the condition of the index.
  const isIndexed = sql`${column} <> '{}'::jsonb`;
  return sql`${isIndexed} and ${column} @> ${sql.param(pairs)}::jsonb ${sql.raw(PLANNED_BY_VALUE)}`;
}
