import { sql, type SQL } from 'drizzle-orm';

/** The present by the clock of PostgreSQL, to compare stored times with. */
export const PRESENT = sql<Date>`statement_timestamp()`;

/**
 * A time to store, from now by the clock of PostgreSQL, which all processes share: what PostgreSQL stores is compared
 * with its clock alone. It is the time of the statement, so that an index can be used and a long transaction does not
 * set times that have passed. Cut to the millisecond that columns hold: rounded up, a row that is due at once would be
 * due half a millisecond later.
 *
 * @param ms may be negative.
 */
export function fromNow(ms: number): SQL<Date> {
  const present = sql`date_trunc('milliseconds', statement_timestamp())`;
  return sql<Date>`(${present} + ${ms}::double precision * interval '1 millisecond')`;
}
