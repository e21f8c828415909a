/** A real PgBouncer in transaction mode between the product and PostgreSQL. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import pg from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { Child } from '#cli/embedded/child.ts';
import { freePort } from '#cli/embedded/ports.ts';
import { reasonOf } from '#cli/terminal/user-error.ts';
import { Database } from '#db/connection/database.ts';
import { createTestDatabase } from '#test/support/servers/database.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { removeFolder, temporaryFolder } from '#test/support/temporary.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { OrderDesk } from '#test/support/work/order-desk.ts';

const PROGRAM = '/usr/sbin/pgbouncer';
/** It refuses to run as root. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

const isInstalled = existsSync(PROGRAM);
if (!isInstalled) process.stderr.write('PgBouncer is not installed: the tests of the product behind it do not run.\n');

/** Starts a PgBouncer with two connections to the server, until the test ends. @returns its URL. */
async function startPgBouncer(databaseUrl: string): Promise<string> {
  const { hostname, port, username, password, pathname } = new URL(databaseUrl);
  const folder = temporaryFolder('pgbouncer');
  const file = join(folder, 'pgbouncer.ini');
  const listenPort = await freePort();
  const server = `host=${hostname} port=${port} dbname=${pathname.slice(1)} user=${username} password='${decodeURIComponent(password)}'`;
  writeFileSync(
    file,
    [
      '[databases]',
      `reseller = ${server}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${listenPort}`,
      'unix_socket_dir =',
      'auth_type = any',
      'pool_mode = transaction',
      'default_pool_size = 2',
      'max_client_conn = 200',
    ].join('\n'),
  );
  const bouncer = new Child({
    name: 'PgBouncer',
    command: PROGRAM,
    args: [file],
    environment: { PATH: process.env['PATH'] },
    logFile: join(folder, 'log'),
    ...NOBODY,
  });
  onTestFinished(async () => {
    await bouncer.stop(5_000);
    removeFolder(folder);
  });
  const url = `postgres://reseller@127.0.0.1:${listenPort}/reseller`;
  const answers = async () => (await limitOutside(url)) !== undefined;
  await waitFor('PgBouncer answers', answers, { context: () => bouncer.tail() });
  return url;
}

/** The limit of a statement outside the product's transactions. */
async function limitOutside(url: string): Promise<string | undefined> {
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query<{ statement_timeout: string }>('show statement_timeout');
  await client.end();
  return rows[0]?.statement_timeout;
}

function open(url: string, isPooled: boolean): Database {
  const usual = { applicationName: 'test', onConnectionError: () => undefined };
  const database = new Database({ url, isPooled, poolSize: 10, ...usual });
  onTestFinished(() => database.close());
  return database;
}

it.skipIf(!isInstalled)('statements behind it have the limits of the product, in transactions only', async () => {
  const created = await createTestDatabase();
  onTestFinished(() => created.drop());
  const url = await startPgBouncer(created.url);
  const limits = sql`select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock`;
  const expected = [{ statement: '15s', lock: '5s' }];

  const pooled = open(url, true);
  expect((await pooled.run((db) => db.execute(limits))).rows).toEqual(expected);
  expect((await pooled.transaction((tx) => tx.execute(limits))).rows).toEqual(expected);
  expect(await limitOutside(url)).toBe('0');
  const sums = Array.from({ length: 40 }, async (_, n) =>
    pooled.run(async (db) => (await db.execute<{ sum: number }>(sql`select ${n}::int + 1 as sum`)).rows[0]?.sum),
  );
  expect(await Promise.all(sums)).toEqual(Array.from({ length: 40 }, (_, n) => n + 1));

  const refused = await open(url, false)
    .run((db) => db.execute(limits))
    .catch((error: unknown) => reasonOf(error));
  expect(refused).toBe('unsupported startup parameter: statement_timeout (08P01)');
});

it.skipIf(!isInstalled)('the product works behind it', { timeout: 600_000 }, async () => {
  const stack = await startStack({ pooler: startPgBouncer });
  onTestFinished(() => stack.stop());
  const desk = new OrderDesk(stack);
  // More orders than connections: each connection serves several processes.
  for (let n = 0; n < 5; n += 1) await desk.complete(1001);
  const delayed = await desk.place(9001);
  expect((await desk.reaches(delayed, 'completed')).textAt('esim_id')).toMatch(/^esim_/);
  await desk.checkBooks();
});
