import { eq, sql } from 'drizzle-orm';
import pg from 'pg';
import { describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { freePort } from '#cli/embedded/ports.ts';
import { withClient } from '#cli/embedded/postgres.ts';
import {
  Database,
  DatabaseUnavailableError,
  type DatabaseOptions,
  type Executor,
  sendTogether,
  sqlState,
  violatedConstraint,
} from '#db/connection/database.ts';
import { prepared } from '#db/connection/prepared-statements.ts';
import { apiKeys } from '#db/schema.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { openTestDatabase } from '#test/support/servers/database.ts';
import { waitFor } from '#test/support/wait-for.ts';

const opened = disposedAtEnd(await openTestDatabase());
const { database } = opened;

const key = (id: string) => ({ id, name: id, prefix: id, hash: Buffer.alloc(32), scopes: [] });
const stored = async () =>
  (await database.run((db) => db.select({ id: apiKeys.id }).from(apiKeys))).map(({ id }) => id);
const pidOf = async (db: Parameters<Parameters<Database['transaction']>[0]>[0]) => {
  const { rows } = await db.execute<{ pid: number }>(sql`select pg_backend_pid() as pid`);
  return rows[0]!.pid;
};
/** The process id of the backend of a connection. */
const pidOfClient = (client: unknown) => z.object({ processID: z.int() }).parse(client).processID;
const killBackend = (pid: number) =>
  withClient(opened.url, (client) => client.query('SELECT pg_terminate_backend($1)', [pid]));

describe('a transaction', () => {
  it('commits on a normal return, and rolls back on an error', async () => {
    await database.transaction((tx) => tx.insert(apiKeys).values(key('committed')));
    const failing = database.transaction(async (tx) => {
      await tx.insert(apiKeys).values(key('rolled-back'));
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow('changed my mind');
    expect(await stored()).toEqual(['committed']);
  });

  it('with a failed statement fails to commit, even when the work ignores the error', async () => {
    const swallowing = database.transaction(async (tx) => {
      await tx.insert(apiKeys).values(key('lost'));
      await tx.execute(sql`select 1 / 0`).catch(() => undefined);
      return 'done';
    });
    await expect(swallowing).rejects.toThrow('rolled back');
    expect(await stored()).not.toContain('lost');
  });

  it('sends statements together, runs them in their order, and fails with the first of their errors', async () => {
    const add = (tx: Executor, id: string) => tx.insert(apiKeys).values(key(id));
    const counts = await database.transaction(async (tx) => {
      const count = () => tx.$count(apiKeys, eq(apiKeys.name, 'together'));
      return sendTogether([count, () => add(tx, 'together'), count]);
    });
    expect([counts[0], counts[2]]).toEqual([0, 1]);
    const failing = database.transaction((tx) =>
      sendTogether([
        () => add(tx, 'before the error'),
        // Its error passes through more functions than that of the next statement, which is refused because of it.
        async () => (async () => (async () => add(tx, 'together'))())(),
        () => add(tx, 'after the error'),
      ]),
    );
    await expect(failing).rejects.toSatisfy((error) => violatedConstraint(error) === 'api_keys_pkey');
    expect(await stored()).not.toContain('before the error');
    expect(await database.transaction(async (tx) => tx.$count(apiKeys, eq(apiKeys.id, 'together')))).toBe(1);
  });

  it('with a lost connection reports PostgreSQL as unavailable, and the pool continues', async () => {
    let seen = 0;
    const cut = database.transaction(async (tx) => {
      seen += 1;
      await killBackend(await pidOf(tx));
      await tx.insert(apiKeys).values(key('cut'));
    });
    await expect(cut).rejects.toBeInstanceOf(DatabaseUnavailableError);
    expect(seen).toBe(1);
    expect(await stored()).not.toContain('cut');
    await database.transaction((tx) => tx.insert(apiKeys).values(key('after-the-cut')));
    expect(await stored()).toContain('after-the-cut');
  });

  it('detects a connection that is lost between two statements', async () => {
    const emit = vi.spyOn(pg.Client.prototype, 'emit');
    const cut = database.transaction(async (tx) => {
      await tx.insert(apiKeys).values(key('cut-between'));
      const pid = await pidOf(tx);
      await killBackend(pid);
      await waitFor('the end of the connection has arrived, without a query', () =>
        emit.mock.calls.some(([event], call) => event === 'end' && pidOfClient(emit.mock.contexts[call]) === pid),
      );
    });
    await expect(cut).rejects.toBeInstanceOf(DatabaseUnavailableError);
    emit.mockRestore();
    expect(await stored()).not.toContain('cut-between');
  });

  it('never returns a connection to the pool with an open transaction', async () => {
    await using single = ownDatabase();
    for (let round = 0; round < 3; round += 1) {
      await single.transaction(() => Promise.reject(new Error('no'))).catch(() => undefined);
      const { rows } = await single.run((db) => db.execute(sql`select now() <> statement_timestamp() as open`));
      expect(rows).toEqual([{ open: false }]);
    }
  });

  it('runs again from its start after a deadlock', async () => {
    await database.run((db) => db.execute(sql`create table counters (id int primary key, n int not null)`));
    await database.run((db) => db.execute(sql`insert into counters values (1, 0), (2, 0)`));
    // Two transactions lock the same rows in opposite order. PostgreSQL aborts one of them.
    const both = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let runs = 0;
    const crossing = (first: number, second: number) =>
      database.transaction(async (tx) => {
        runs += 1;
        await tx.execute(sql`update counters set n = n + 1 where id = ${first}`);
        both[first - 1]!.resolve();
        await both[second - 1]!.promise;
        await tx.execute(sql`update counters set n = n + 1 where id = ${second}`);
      });
    await Promise.all([crossing(1, 2), crossing(2, 1)]);
    const { rows } = await database.run((db) => db.execute<{ n: number }>(sql`select n from counters`));
    expect(rows.map(({ n }) => n)).toEqual([2, 2]);
    // More runs are possible when the aborted one restarts before the other continues, and both block again.
    expect(runs).toBeGreaterThan(2);
  });

  it('has a time limit for locks and statements', async () => {
    const { rows } = await database.run((db) =>
      db.execute<{ name: string; setting: string }>(
        sql`select name, setting from pg_settings
          where name in ('lock_timeout', 'statement_timeout', 'idle_in_transaction_session_timeout')
          order by name`,
      ),
    );
    expect(rows).toHaveLength(3);
    for (const { setting } of rows) expect(Number(setting)).toBeGreaterThan(0);
  });
});

describe('an error of PostgreSQL', () => {
  it('contains the violated constraint and the SQLSTATE through the wrapper', async () => {
    const add = () => database.transaction((tx) => tx.insert(apiKeys).values(key('twice')));
    await add();
    const error: unknown = await add().catch((caught: unknown) => caught);
    expect(sqlState(error)).toBe('23505');
    expect(violatedConstraint(error)).toBe('api_keys_pkey');
    expect(error).not.toBeInstanceOf(DatabaseUnavailableError);
  });

  it('of an unreachable server is reported as such, for transactions and single statements', async () => {
    const nowhere = new URL(opened.url);
    nowhere.port = String(await freePort());
    await using absent = ownDatabase({ url: nowhere.href });
    await expect(absent.transaction(async () => undefined)).rejects.toBeInstanceOf(DatabaseUnavailableError);
    await expect(absent.run((db) => db.execute(sql`select 1`))).rejects.toBeInstanceOf(DatabaseUnavailableError);
  });

  it('of a broken idle connection is reported to the owner and not thrown', async () => {
    const broken = Promise.withResolvers<Error>();
    await using watched = ownDatabase({ onConnectionError: broken.resolve });
    await killBackend(await watched.run(pidOf));
    expect(await broken.promise).toBeInstanceOf(pg.DatabaseError);
    expect(await watched.run(pidOf)).toBeGreaterThan(0);
  });
});

describe('a database whose statements are prepared by name', () => {
  it('plans a statement once, and runs it again on another connection when its table has changed', async () => {
    await using preparing = ownDatabase({ prepares: true });
    await database.run((db) => db.execute(sql`create table changing as select 1::integer as value`));
    const read = () =>
      preparing.transaction(async (tx) => (await tx.execute(sql`select * from changing where value > ${0}`)).rows);
    const first = await read();
    const names = await preparing.run((db) => db.execute(sql`select name from pg_prepared_statements`));
    expect([first, names.rows.length]).toEqual([[{ value: 1 }], 1]);
    await database.run((db) => db.execute(sql`alter table changing add column more integer`));
    expect(await read()).toEqual([{ value: 1, more: null }]);
  });
});

describe('a statement that is built once', () => {
  it.each([
    { how: 'is prepared by its name', options: {}, names: ['orders of'] },
    { how: 'has no name behind a pooler', options: { isPooled: true }, names: [] },
  ])('$how, and gives the rows of each call', async ({ options, names }) => {
    await using own = ownDatabase(options);
    let built = 0;
    const build = (on: Executor, name: string) => {
      built += 1;
      return on
        .select({ value: sql<number>`value` })
        .from(sql`(values (1), (2)) as given (value)`)
        .where(eq(sql`value`, sql.placeholder('value')))
        .prepare(name);
    };
    const read = (value: number) =>
      own.transaction((tx) => prepared(tx, 'orders of', build).execute({ value: String(value) }));
    expect([await read(1), await read(2)]).toEqual([[{ value: 1 }], [{ value: 2 }]]);
    expect(built).toBe(1);
    const known = await own.run((db) => db.execute(sql`select name from pg_prepared_statements`));
    expect(known.rows.map(({ name }) => name)).toEqual(names);
  });
});

it('statements with long names that begin alike are two', async () => {
  await using own = ownDatabase();
  const read = (value: number) =>
    own.run((db) =>
      prepared(db, `${'x'.repeat(80)} ${value}`, (on, name) =>
        on
          .select({ value: sql<number>`${sql.raw(String(value))}` })
          .from(sql`(values (1)) as one`)
          .prepare(name),
      ).execute(),
    );
  expect([await read(1), await read(2)]).toEqual([[{ value: 1 }], [{ value: 2 }]]);
});

/** A pool of one connection, so that its prepared statements and transactions are those of the test. */
function ownDatabase(options: Partial<DatabaseOptions> = {}): Database & AsyncDisposable {
  const usual = { url: opened.url, poolSize: 1, applicationName: 'own', onConnectionError: () => undefined };
  const own = new Database({ ...usual, ...options });
  return Object.assign(own, { [Symbol.asyncDispose]: () => own.close() });
}
