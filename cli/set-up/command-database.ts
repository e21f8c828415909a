import { Database } from '#db/connection/database.ts';
import { requireCurrentSchema } from '#db/connection/migrate.ts';

/** One connection for a transaction, and one for reads during it, such as the service's token. */
const POOL_SIZE = 2;

/**
 * Opens the database for `work` and closes it afterwards.
 *
 * @param applicationName shown in `pg_stat_activity`.
 * @throws SchemaNotCurrentError, DatabaseUnavailableError, and the errors of `work`.
 */
export async function withDatabase<Result>(
  url: string,
  applicationName: string,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  // A broken connection is reported by the statement that used it.
  const database = new Database({ url, poolSize: POOL_SIZE, applicationName, onConnectionError: () => undefined });
  try {
    await database.run(requireCurrentSchema);
    return await work(database);
  } finally {
    await database.close();
  }
}
