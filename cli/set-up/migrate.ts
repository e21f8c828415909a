import { reasonOf, UserError } from '#cli/terminal/user-error.ts';
import { readDatabaseConfig } from '#config/config.ts';
import type { Environment } from '#config/environment.ts';
import { migrate, TableLockedError, UnreleasedSchemaError } from '#db/connection/migrate.ts';

/**
 * Migrates a database to the current schema.
 * @param folder of the migrations; default: the product's.
 * @throws UserError when it cannot be reached, refuses the migration, or a table is in use; UnreleasedSchemaError.
 */
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

/** `reseller migrate`. @throws ConfigurationError */
export async function migrateDatabase(environment: Environment): Promise<void> {
  const { database } = readDatabaseConfig(environment);
  await migrateOrExplain(database.directUrl);
  process.stdout.write('The database has the current schema.\n');
}
