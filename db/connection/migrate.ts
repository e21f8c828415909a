import { fileURLToPath } from 'node:url';
import { sql } from 'drizzle-orm';
import { type MigrationMeta, readMigrationFiles } from 'drizzle-orm/migrator';
import { drizzle } from 'drizzle-orm/node-postgres';
import { migrate as applyMigrations } from 'drizzle-orm/node-postgres/migrator';
import pg from 'pg';
import { LOCK_NOT_AVAILABLE, sqlState, type Executor } from '#db/connection/database.ts';
import { schemaSupport } from '#db/schema.ts';

const MIGRATIONS_FOLDER = fileURLToPath(new URL('../migrations', import.meta.url));

/** No other program of this database may use this number. */
const MIGRATION_LOCK = 7_301_883;

/** Longer than a statement of the product takes, short enough for callers that wait behind a locked table. */
const LOCK_TIMEOUT_MS = 4_000;

export class TableLockedError extends Error {
  constructor(cause: unknown) {
    super(
      'A migration needs a table that another connection uses, and waited for 4 seconds. Nothing was changed. Run ' +
        '`npx reseller migrate` again when the other work has ended; pg_stat_activity shows it.',
      { cause },
    );
    this.name = 'TableLockedError';
  }
}

/** Safe from several processes at once. @throws TableLockedError when nothing was changed; UnreleasedSchemaError. */
export async function migrate(url: string, folder = MIGRATIONS_FOLDER): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000, application_name: 'migrate' });
  // The statement in flight rejects by itself.
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    // One transaction: while it waits for one table, it keeps the others locked.
    await client.query(`set lock_timeout = ${LOCK_TIMEOUT_MS}`);
    const db = drizzle(client);
    await countApplied(db, readMigrationFiles({ migrationsFolder: folder }));
    await applyMigrations(db, { migrationsFolder: folder });
  } catch (error) {
    throw sqlState(error) === LOCK_NOT_AVAILABLE ? new TableLockedError(error) : error;
  } finally {
    await client.end();
  }
}

/** Migrations from before the first release were joined into one. */
export class UnreleasedSchemaError extends Error {
  constructor() {
    super(
      'This database was set up by a version from before the first release, and no migration leads from its schema ' +
        'to the present one. Nothing was changed. Keep it for the version that set it up, and set DATABASE_URL to an ' +
        'empty database for this version.',
    );
    this.name = 'UnreleasedSchemaError';
  }
}

export class SchemaNotCurrentError extends Error {
  constructor(applied: number, expected: number) {
    super(
      applied < expected
        ? `The database lacks ${expected - applied} of ${expected} migrations: run \`npx reseller migrate\`.`
        : `The database has ${applied} migrations and no longer supports this version, which knows ${expected}: run ` +
            'a version that is as new as the database.',
    );
    this.name = 'SchemaNotCurrentError';
  }
}

/** Accepts a newer database that still supports this version. @throws UnreleasedSchemaError; SchemaNotCurrentError. */
export async function requireCurrentSchema(db: Executor): Promise<void> {
  const applied = await countApplied(db);
  const expected = ownMigrations().length;
  if (applied < expected || (applied > expected && expected < (await oldestSupported(db)))) {
    throw new SchemaNotCurrentError(applied, expected);
  }
}

async function oldestSupported(db: Executor): Promise<number> {
  const { rows } = await db.execute<{ oldest: number }>(
    sql`select ${schemaSupport.oldestMigrations} as oldest from ${schemaSupport}`,
  );
  return rows[0]?.oldest ?? Infinity;
}

/** @throws UnreleasedSchemaError unless the first migration of the database is ours; an empty database has none. */
export async function countApplied(db: Executor, migrations = ownMigrations()): Promise<number> {
  const [{ table } = { table: null }] = (
    await db.execute<{ table: string | null }>(sql`select to_regclass('drizzle.__drizzle_migrations')::text as table`)
  ).rows;
  if (table === null) return 0;
  const { rows } = await db.execute<{ applied: number; first: string | null }>(
    sql`select count(*)::int as applied, min(created_at)::text as first from drizzle.__drizzle_migrations`,
  );
  const { applied, first } = rows[0] ?? { applied: 0, first: null };
  if (first !== null && Number(first) !== migrations[0]?.folderMillis) throw new UnreleasedSchemaError();
  return applied;
}

let own: readonly MigrationMeta[] | undefined;

function ownMigrations(): readonly MigrationMeta[] {
  return (own ??= readMigrationFiles({ migrationsFolder: MIGRATIONS_FOLDER }));
}
