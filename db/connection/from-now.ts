import { sql, type SQL } from 'drizzle-orm';

/** By PostgreSQL's clock, for comparisons with stored times. */
export const PRESENT = sql<Date>`statement_timestamp()`;

/**
 * PostgreSQL's clock is shared by all processes. The time is that of the statement: an index can be used, and a long
 * transaction sets no past times. It is cut to milliseconds: a value that is rounded up would be due too late.
 * @param ms may be negative.
 */
export function fromNow(ms: number): SQL<Date> {
  const present = sql`date_trunc('milliseconds', statement_timestamp())`;
  return sql<Date>`(${present} + ${ms}::double precision * interval '1 millisecond')`;
}
