import { sql, type SQL } from 'drizzle-orm';

/**
 * A time from now by the clock of PostgreSQL, which all processes share: what PostgreSQL stores is compared with its clock alone. It is
 * the time of the statement, so that an index can be used and a long transaction does not set times that have passed.
 *
 * @param ms may be negative.
 */
export function fromNow(ms: number): SQL<Date> {
  return sql<Date>`(statement_timestamp() + ${ms}::double precision * interval '1 millisecond')`;
}
