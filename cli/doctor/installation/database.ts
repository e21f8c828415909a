import { sql } from 'drizzle-orm';
import { failure, type Finding, ok } from '#cli/doctor/finding.ts';
import { codeOf, messageOf } from '#cli/terminal/user-error.ts';
import type { DatabaseConfig } from '#config/config.ts';
import { Database, type Executor, sqlState } from '#db/connection/database.ts';

/** Opens the connection pool that all checks of the database share. */
export function openDatabase(url: string): Database {
  // A broken connection is reported by the statement that used it.
  return new Database({ url, poolSize: 1, applicationName: 'reseller doctor', onConnectionError: () => undefined });
}

/** Checks that PostgreSQL answers at both addresses. */
export async function checkDatabase(database: Database, config: DatabaseConfig): Promise<Finding> {
  const problem = await tryOut(database, 'DATABASE_URL');
  if (problem !== undefined) return problem;
  if (config.directUrl === config.url) return ok('PostgreSQL answers');

  const direct = openDatabase(config.directUrl);
  try {
    return (await tryOut(direct, 'DATABASE_DIRECT_URL')) ?? ok('PostgreSQL answers, directly as well');
  } finally {
    await direct.close();
  }
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

/** The message of the innermost cause: drizzle's own message repeats the whole statement. */
export function reasonOf(error: unknown): string {
  let innermost = error;
  while (innermost instanceof Error && innermost.cause !== undefined) innermost = innermost.cause;
  const code = sqlState(error) ?? codeOf(innermost);
  // An AggregateError for a refused connection has an empty message.
  const words = messageOf(innermost);
  if (words === '') return code ?? 'no reason given';
  return code === undefined || words.includes(code) ? words : `${words} (${code})`;
}
