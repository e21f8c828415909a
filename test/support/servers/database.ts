import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { withClient } from '#cli/embedded/postgres.ts';
import { Database, type DatabaseOptions } from '#db/connection/database.ts';
import type { SharedServers } from '#test/support/servers/shared-servers.ts';

export interface TestDatabase extends AsyncDisposable {
  readonly url: string;
  readonly name: string;
  /** Ends all its sessions and removes it. */
  drop(): Promise<void>;
}

/** Many stacks start at the same moment, and each keeps others waiting. */
const MANY_AT_ONCE = { connectTimeoutMs: 60_000 } as const;

/** A migrated, empty database of its own, cloned from the run's template. */
export async function createTestDatabase(
  { postgresUrl, templateDatabase }: Pick<SharedServers, 'postgresUrl' | 'templateDatabase'> = inject('servers'),
): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await withClient(
    postgresUrl,
    async (client) => {
      // Files of one run clone the same template, and PostgreSQL refuses while another session is at it.
      await client.query('SELECT pg_advisory_lock(1)');
      await client.query(`CREATE DATABASE ${name} TEMPLATE ${templateDatabase}`);
    },
    MANY_AT_ONCE,
  );
  const drop = () =>
    withClient(postgresUrl, async (client) => {
      await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    });
  const url = new URL(postgresUrl);
  url.pathname = `/${name}`;
  return { url: url.href, name, drop, [Symbol.asyncDispose]: drop };
}

export interface OpenTestDatabase extends TestDatabase {
  readonly database: Database;
}

/** {@link createTestDatabase} with our own pool on it; `drop` closes the pool first. */
export async function openTestDatabase(options: Pick<DatabaseOptions, 'onEvents'> = {}): Promise<OpenTestDatabase> {
  const created = await createTestDatabase();
  const database = openDatabase(created.url, options);
  const drop = async () => {
    await database.close();
    await created.drop();
  };
  return { url: created.url, name: created.name, database, drop, [Symbol.asyncDispose]: drop };
}

/** Our own pool on a database. The caller closes it. */
export function openDatabase(url: string, options: Pick<DatabaseOptions, 'onEvents'> = {}): Database {
  // A connection that breaks is what some tests bring about; the statement that meets it reports it.
  return new Database({ url, poolSize: 5, applicationName: 'test', onConnectionError: () => undefined, ...options });
}
