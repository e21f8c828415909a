import { sql } from 'drizzle-orm';
import { failure, type Finding, ok, warning } from '#cli/doctor/finding.ts';
import { reasonOf } from '#cli/terminal/user-error.ts';
import type { DatabaseConfig } from '#config/config.ts';
import { Database, type Executor } from '#db/connection/database.ts';

/** Opens the connection pool that all checks of the database share. */
export function openDatabase({ url, isPooled }: Pick<DatabaseConfig, 'url' | 'isPooled'>): Database {
  const options = { url, isPooled, poolSize: 1, applicationName: 'reseller doctor' };
  // A broken connection is reported by the statement that used it.
  return new Database({ ...options, onConnectionError: () => undefined });
}

/** Checks that PostgreSQL answers at both addresses, and that its archive does not fail. */
export async function checkDatabase(database: Database, config: DatabaseConfig): Promise<Finding> {
  const problem = await tryOut(database, 'DATABASE_URL');
  if (problem !== undefined) return problem;
  if (!config.isPooled) return (await failingArchive(database)) ?? ok('PostgreSQL answers');

  const direct = openDatabase({ url: config.directUrl, isPooled: false });
  try {
    const unreachable = await tryOut(direct, 'DATABASE_DIRECT_URL');
    return unreachable ?? (await failingArchive(database)) ?? ok('PostgreSQL answers, directly as well');
  } finally {
    await direct.close();
  }
}

/** A server whose archive fails keeps all of its log, until its disk is full. */
async function failingArchive(database: Database): Promise<Finding | undefined> {
  const { rows } = await database.run((db: Executor) =>
    db.execute<{ file: string; at: string }>(sql`
      select last_failed_wal as file, to_json(last_failed_time) #>> '{}' as at from pg_stat_archiver
      where current_setting('archive_mode') <> 'off'
        and last_failed_time > coalesce(last_archived_time, '-infinity')`),
  );
  const [failed] = rows;
  if (failed === undefined) return undefined;
  return warning(
    `PostgreSQL answers, but its write-ahead log is not archived: ${failed.file} failed at ${failed.at}`,
    'The log of PostgreSQL has the reason. A restore reaches no later change, and the disk of the server fills up. ' +
      'Make the archive writable for the account of PostgreSQL; it then continues by itself.',
  );
}

async function tryOut(database: Database, variable: string): Promise<Finding | undefined> {
  try {
    await database.run((db: Executor) => db.execute(sql`select 1`));
    return undefined;
  } catch (error) {
    return failure(
      `PostgreSQL cannot be used: ${reasonOf(error)}`,
      `Check that it runs, that ${variable} is right, and that its user may connect.`,
    );
  }
}
