import { withDatabase } from '#cli/set-up/command-database.ts';
import type { DatabaseConfig, ServiceConfig } from '#config/config.ts';
import type { Database } from '#db/connection/database.ts';
import { stampOrVerify, verifyStamp } from '#db/connection/installation.ts';

/** The database, and the service that it belongs to. */
export interface ProfileConfig {
  readonly database: Pick<DatabaseConfig, 'directUrl'>;
  readonly service: Pick<ServiceConfig, 'baseUrl' | 'mode'>;
}

/**
 * Opens the database with the capability profiles of the configured service for one command.
 *
 * @param use `write` stamps a database that is used for the first time.
 * @throws SchemaNotCurrentError, DatabaseUnavailableError, OtherInstallationError
 */
export async function withProfileDatabase<Result>(
  { database: config, service: { baseUrl, mode } }: ProfileConfig,
  use: 'read' | 'write',
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  return await withDatabase(config.directUrl, 'reseller capabilities', async (database) => {
    // A read must not stamp a new database with a service.
    const check = use === 'read' ? verifyStamp : stampOrVerify;
    await database.run(async (db) => await check(db, { serviceBaseUrl: baseUrl, serviceMode: mode }));
    return await work(database);
  });
}
