import { randomBytes } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import pg from 'pg';
import { inject } from 'vitest';
import { withClient } from '#cli/embedded/postgres.ts';
import { Database, type DatabaseOptions, type Executor } from '#db/connection/database.ts';
import type { SharedServers } from '#test/support/servers/shared-servers.ts';

export type TestDatabase = Awaited<ReturnType<typeof createTestDatabase>>;
export type OpenTestDatabase = Awaited<ReturnType<typeof openTestDatabase>>;

/** Many stacks start at the same time and wait for each other. */
const MANY_AT_ONCE = { connectTimeoutMs: 60_000 } as const;

/** Creates a migrated, empty database from the run's template. */
export async function createTestDatabase(
  { postgresUrl, templateDatabase }: Pick<SharedServers, 'postgresUrl' | 'templateDatabase'> = inject('servers'),
) {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await withClient(
    postgresUrl,
    async (client) => {
      // PostgreSQL refuses to clone the template while another session clones it.
      await client.query('SELECT pg_advisory_lock(1)');
      await client.query(`CREATE DATABASE ${name} TEMPLATE ${templateDatabase}`);
    },
    MANY_AT_ONCE,
  );
  /** Ends all its sessions and removes it. */
  const drop = () =>
    withClient(postgresUrl, async (client) => {
      await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    });
  const url = new URL(postgresUrl);
  url.pathname = `/${name}`;
  return { url: url.href, name, drop, [Symbol.asyncDispose]: drop };
}

/** {@link createTestDatabase} with a pool. `drop` closes the pool first. */
export async function openTestDatabase(options: Pick<DatabaseOptions, 'onRowsAdded'> = {}) {
  const created = await createTestDatabase();
  const database = openDatabase(created.url, options);
  const drop = async () => {
    await database.close();
    await created.drop();
  };
  return { ...created, database, drop, [Symbol.asyncDispose]: drop };
}

/** Opens a pool on a database. The caller closes it. */
export function openDatabase(url: string, options: Pick<DatabaseOptions, 'onRowsAdded'> = {}): Database {
  // Some tests break connections on purpose. The failing statement reports the error.
  return new Database({ url, poolSize: 5, applicationName: 'test', onConnectionError: () => undefined, ...options });
}

/** True while a session of this database waits for an advisory lock. */
export async function isWaitingForLock(database: Database): Promise<boolean> {
  const waiting = sql`select 1 from pg_locks where locktype = 'advisory' and not granted
    and database = (select oid from pg_database where datname = current_database())`;
  return (await database.run((db) => db.execute(waiting))).rows.length > 0;
}

/** The plan of the first statement that `read` sends, as JSON. @param how for example `analyze, format json`. */
export async function planOf(
  tx: Executor,
  read: (db: Executor) => PromiseLike<unknown>,
  how = 'format text',
): Promise<string> {
  const sent: { text: string; values: unknown[] }[] = [];
  const client = new pg.Client();
  client.query = (({ text }: { text: string }, values: unknown[]) => {
    sent.push({ text, values });
    return Promise.resolve({ rows: [] });
  }) as typeof client.query;
  await read(drizzle(client));
  const [first] = sent;
  if (first === undefined) throw new Error('no statement was sent');
  const chunks = first.text
    .split(/\$(\d+)/)
    .map((part, n) => (n % 2 === 0 ? sql.raw(part) : sql.param(first.values[Number(part) - 1])));
  return JSON.stringify((await tx.execute(sql`explain (${sql.raw(how)}) ${sql.join(chunks)}`)).rows);
}
