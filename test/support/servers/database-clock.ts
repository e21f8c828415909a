/** A clock of PostgreSQL that a test controls. */
import { withClient } from '#cli/embedded/postgres.ts';
import type { TestDatabase } from '#test/support/servers/database.ts';

/** The time that the product reads from the database. */
export type DatabaseClock = Awaited<ReturnType<typeof holdDatabaseClock>>;

/**
 * Stops `clock_timestamp()` of one test database at a time that the test sets. PostgreSQL searches `pg_catalog` first,
 * unless the search path names it later.
 *
 * @param database a database without open sessions of the product.
 */
export async function holdDatabaseClock({ url, name }: Pick<TestDatabase, 'url' | 'name'>, at: Date) {
  await withClient(url, async (client) => {
    await client.query(`
      CREATE SCHEMA test_clock;
      CREATE TABLE test_clock.held (at timestamptz NOT NULL);
      CREATE FUNCTION test_clock.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
        AS 'SELECT at FROM test_clock.held';
      ALTER DATABASE ${name} SET search_path = test_clock, pg_catalog, public`);
    await client.query('INSERT INTO test_clock.held VALUES ($1)', [at]);
  });
  return {
    set: (to: Date) =>
      withClient(url, async (client) => {
        await client.query('UPDATE test_clock.held SET at = $1', [to]);
      }),
  };
}
