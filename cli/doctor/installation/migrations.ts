import { failure, type Finding, ok } from '#cli/doctor/finding.ts';
import type { Database } from '#db/connection/database.ts';
import { requireCurrentSchema, SchemaNotCurrentError, UnreleasedSchemaError } from '#db/connection/migrate.ts';

/** Checks that the database has exactly the schema of this version. */
export async function checkMigrations(database: Database): Promise<Finding> {
  try {
    await database.run(requireCurrentSchema);
    return ok('the schema is that of this version');
  } catch (error) {
    if (error instanceof UnreleasedSchemaError) {
      return failure('the database was set up by a version from before the first release', error.message);
    }
    if (!(error instanceof SchemaNotCurrentError)) throw error;
    const [fact = '', advice = ''] = error.message.split(': ', 2);
    return failure(fact, `${advice.charAt(0).toUpperCase()}${advice.slice(1)}`);
  }
}
