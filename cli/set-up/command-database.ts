import { userInfo } from 'node:os';
import { reasonOf, UserError } from '#cli/terminal/user-error.ts';
import { readParts } from '#config/config.ts';
import type { Environment } from '#config/environment.ts';
import { Database } from '#db/connection/database.ts';
import { requireCurrentSchema, migrate, TableLockedError, UnreleasedSchemaError } from '#db/connection/migrate.ts';

/** A transaction needs one, reads during it another one. */
const POOL_SIZE = 2;

/** @throws SchemaNotCurrentError, DatabaseUnavailableError, and the errors of `work`. */
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

/** {@link withDatabase}, for the database that the environment names. */
export async function inDatabase<Result>(
  environment: Environment,
  applicationName: string,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  return await withDatabase(readParts(['database'], environment).database.directUrl, applicationName, work);
}

/** In a container a user id may have no name. */
export function account(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid-${process.getuid?.() ?? 'unknown'}`;
  }
}

export function actor(): string {
  return `command/${account()}`;
}

/** @throws UserError when the database is unreachable, refuses, or a table is in use; UnreleasedSchemaError. */
export async function migrateOrExplain(url: string, folder?: string): Promise<void> {
  try {
    await migrate(url, folder);
  } catch (error) {
    if (error instanceof UnreleasedSchemaError) throw error;
    const failed = 'The database could not be migrated to the current schema';
    if (error instanceof TableLockedError) throw new UserError(`${failed}.`, error.message, { cause: error });
    throw new UserError(
      `${failed}: ${reasonOf(error)}.`,
      'Check that PostgreSQL runs, that DATABASE_URL is right, and that its user may create tables.',
      { cause: error },
    );
  }
}

export async function migrateDatabase(environment: Environment): Promise<void> {
  await migrateOrExplain(readParts(['database'], environment).database.directUrl);
  process.stdout.write('The database has the current schema.\n');
}
