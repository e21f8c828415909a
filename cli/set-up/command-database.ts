import { Database } from '#db/connection/database.ts';
import { requireCurrentSchema } from '#db/connection/migrate.ts';

/** One for a transaction and one for what is read meanwhile, such as the service's token. */
const POOL_SIZE = 2;

/**
 * Gives a command the database for as long as its work takes.
 *
 * @param applicationName shown in `pg_stat_activity`.
 * @throws SchemaNotCurrentError, DatabaseUnavailableError, and what the work throws.
 */
export async function withDatabase<Result>(
  url: string,
  applicationName: string,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  // The statement that meets a broken connection reports it.
  const database = new Database({ url, poolSize: POOL_SIZE, applicationName, onConnectionError: () => undefined });
  try {
    await database.run(requireCurrentSchema);
    return await work(database);
  } finally {
    await database.close();
  }
}
