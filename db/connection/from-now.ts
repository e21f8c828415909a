import { sql, type SQL } from 'drizzle-orm';

/** The present time of PostgreSQL's clock, for comparisons with stored times. */
export const PRESENT = sql<Date>`statement_timestamp()`;

/**
 * A time relative to now, by PostgreSQL's clock, which all processes share. It is the time of the statement, so that an
 * index can be used and a long transaction does not set past times. Cut to milliseconds: a value that is rounded up
 * would be due half a millisecond late.
 *
 * @param ms may be negative.
 */
export function fromNow(ms: number): SQL<Date> {
  const present = sql`date_trunc('milliseconds', statement_timestamp())`;
  return sql<Date>`(${present} + ${ms}::double precision * interval '1 millisecond')`;
}
