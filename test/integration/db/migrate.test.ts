import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { sql } from 'drizzle-orm';
import { describe, expect, inject, it } from 'vitest';
import { withClient } from '#cli/embedded/postgres.ts';
import { migrateOrExplain } from '#cli/set-up/command-database.ts';
import { migrate, requireCurrentSchema, TableLockedError } from '#db/connection/migrate.ts';
import { PROJECT } from '#test/support/compose.ts';
import { createTestDatabase, openTestDatabase } from '#test/support/servers/database.ts';
import { environmentAlone, TestProcess } from '#test/support/servers/processes.ts';
import { temporaryFolder } from '#test/support/temporary.ts';

const run = promisify(execFile);

describe('migrators', () => {
  it('of several processes at once apply each migration once', async () => {
    await using database = await createTestDatabase({ ...inject('servers'), templateDatabase: 'template0' });
    const { url } = database;
    const migrator = () =>
      run(process.execPath, [join(PROJECT, 'cli/main.ts'), 'migrate'], { env: { ...process.env, DATABASE_URL: url } });
    for (const { stdout } of await Promise.all([migrator(), migrator(), migrator()]))
      expect(stdout).toBe('The database has the current schema.\n');
    const { rows } = await withClient(url, (client) =>
      client.query<{ count: number; different: number }>(
        `SELECT count(*)::int AS count, count(DISTINCT hash)::int AS different FROM drizzle.__drizzle_migrations`,
      ),
    );
    expect(rows[0]?.count).toBe(rows[0]?.different);
    expect(rows[0]?.count).toBeGreaterThan(0);
  });
});

describe('a migration that needs a table in use', () => {
  it('gives up with a clear error, has changed nothing, and succeeds later', async () => {
    await using database = await createTestDatabase({ ...inject('servers'), templateDatabase: 'template0' });
    const { url } = database;
    const folder = temporaryFolder('migrations');
    mkdirSync(join(folder, 'meta'));
    const entries = [{ idx: 0, version: '7', when: 1, tag: '0000_two', breakpoints: true }];
    writeFileSync(join(folder, 'meta/_journal.json'), JSON.stringify({ version: '7', dialect: 'postgresql', entries }));
    const columns = ['free', 'used'].map((table) => `ALTER TABLE ${table} ADD COLUMN more text;`);
    writeFileSync(join(folder, '0000_two.sql'), columns.join('\n--> statement-breakpoint\n'));
    await withClient(url, async (report) => {
      await report.query('CREATE TABLE free (id int); CREATE TABLE used (id int)');
      await report.query('BEGIN');
      await report.query('SELECT * FROM used');
      const refusal = { advice: expect.stringContaining('pg_stat_activity'), cause: expect.any(TableLockedError) };
      await expect(migrateOrExplain(url, folder)).rejects.toMatchObject(refusal);
      await report.query('SELECT id FROM free');
      await expect(report.query('SELECT more FROM free')).rejects.toThrow('does not exist');
      await report.query('ROLLBACK');
      await migrate(url, folder);
      await report.query('SELECT free.more, used.more FROM free, used');
    });
  });
});

describe('a version of the product', () => {
  it('works with a newer schema until a migration ends its support, and never with an older one', async () => {
    await using created = await openTestDatabase();
    const { database } = created;
    const check = () => database.run(requireCurrentSchema);
    const execute = (statement: ReturnType<typeof sql>) => database.run((db) => db.execute(statement));
    await check();

    await execute(sql`insert into drizzle.__drizzle_migrations (hash, created_at) values ('newer', 9999999999999)`);
    await check();

    await execute(
      sql`update schema_support set oldest_migrations = (select count(*) from drizzle.__drizzle_migrations)`,
    );
    await expect(check()).rejects.toThrow('no longer supports this version');

    await execute(sql`truncate drizzle.__drizzle_migrations`);
    await expect(check()).rejects.toThrow('lacks 1 of');
  });
});

describe('a database of a version from before the first release', () => {
  it.each([
    ['API', 'api/main.ts', []],
    ['worker', 'worker/main.ts', []],
    ['reseller migrate', 'cli/main.ts', ['migrate']],
    ['reseller keys list', 'cli/main.ts', ['keys', 'list']],
    ['reseller doctor', 'cli/main.ts', ['doctor']],
  ])('is refused before anything is changed: %s', async (name, script, args) => {
    await using created = await openTestDatabase();
    const execute = (statement: ReturnType<typeof sql>) => created.database.run((db) => db.execute(statement));
    // Those of its migrations that are no longer there.
    await execute(sql`update drizzle.__drizzle_migrations set created_at = 1780000000000`);
    await execute(sql`insert into drizzle.__drizzle_migrations (hash, created_at) values ('second', 1780000000001)`);
    await using process = new TestProcess({ name, script, args, environment: await environmentAlone(created.url) });
    expect((await process.exit()).code, process.tail()).toBe(1);
    expect(process.output()).toContain('from before the first release');
    expect(process.output()).toContain('an empty database');
    const { rows } = await execute(sql`
      select (select count(*)::int from drizzle.__drizzle_migrations) as migrations,
        (select count(*)::int from installation) as stamps, (select count(*)::int from encryption_keys) as keys`);
    expect(rows).toEqual([{ migrations: 2, stamps: 0, keys: 0 }]);
  });
});
