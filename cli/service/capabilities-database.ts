import { withDatabase } from '#cli/set-up/command-database.ts';
import type { DatabaseConfig, ServiceConfig } from '#config/config.ts';
import type { Database } from '#db/connection/database.ts';
import { stampOrVerify, verifyStamp } from '#db/connection/installation.ts';

/** The database, and the service that it belongs to. */
export interface ProfileConfig {
  readonly database: Pick<DatabaseConfig, 'url'>;
  readonly service: Pick<ServiceConfig, 'baseUrl' | 'mode'>;
}

/**
 * Gives a command the database that keeps the capability profiles of the service that is configured.
 *
 * @param use `write` stamps a database that is used for the first time.
 * @throws SchemaNotCurrentError, DatabaseUnavailableError, OtherInstallationError
 */
export async function withProfileDatabase<Result>(
  { database: config, service: { baseUrl, mode } }: ProfileConfig,
  use: 'read' | 'write',
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  return await withDatabase(config.url, 'reseller capabilities', async (database) => {
    // To look at a new database must not decide what it is for.
    const check = use === 'read' ? verifyStamp : stampOrVerify;
    await database.run(async (db) => await check(db, { serviceBaseUrl: baseUrl, serviceMode: mode }));
    return await work(database);
  });
}
