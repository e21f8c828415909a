/** Servers of a test's own, for tests that stop, kill and start them again on the same port and data. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Client } from 'pg';
import { freePort } from '#cli/embedded/ports.ts';
import { EmbeddedPostgres, withClient } from '#cli/embedded/postgres.ts';
import { sendSignal } from '#cli/embedded/process-identity.ts';
import { obtainTemporalCli } from '#cli/embedded/temporal-cli.ts';
import { TemporalServer } from '#cli/embedded/temporal-server.ts';
import { migrate } from '#db/connection/migrate.ts';
import { atEnd } from '#test/support/at-end.ts';
import { signalTree } from '#test/support/servers/process-tree.ts';
import { removeFolder, temporaryFolder } from '#test/support/temporary.ts';

const run = promisify(execFile);

interface OwnServer extends AsyncDisposable {
  /** On the same port and data; waits until it serves. */
  start(): Promise<void>;
  /** As an administrator would. */
  stop(): Promise<void>;
  /** As a power cut would. */
  kill(): Promise<void>;
  /** All of its processes stand still, with their connections open, until {@link thaw}. */
  freeze(): void;
  thaw(): void;
  /** Backs its data up: it is stopped for that and started again. @returns the folder of the backup. */
  backUp(): Promise<string>;
  /** Kills it, puts a backup in the place of its data, and starts it. @param backup undefined: it begins empty. */
  restore(backup: string | undefined): Promise<void>;
}

/** What PostgreSQL no longer knew when it had come back. */
interface LostCommits {
  readonly transactions: number;
  /** Of the write-ahead log. */
  readonly bytes: number;
}

export interface OwnPostgres extends OwnServer {
  /** A migrated database. */
  readonly url: string;
  /**
   * Ends all of it at one moment, so that what was committed and not written yet is lost, and starts it again. Needs
   * `losesCommitsOf`.
   */
  setBack(): Promise<LostCommits>;
  /** What was committed before is not lost any more. */
  makeDurable(): Promise<void>;
  /** As {@link makeDurable}, and nothing that is committed later is written until it is set back. */
  keepNothingMore(): Promise<void>;
}

export interface OwnTemporal extends OwnServer {
  readonly address: string;
}

/**
 * A PostgreSQL that runs, with data that survive a kill.
 *
 * @param options.losesCommitsOf milliseconds (10,000 at most): a commit is written so much later, and lost when all
 * of PostgreSQL ends before. By default nothing that was committed is ever lost.
 */
export async function startOwnPostgres({
  losesCommitsOf,
}: { readonly losesCommitsOf?: number } = {}): Promise<OwnPostgres> {
  const folder = temporaryFolder('postgres');
  const postgres = await EmbeddedPostgres.prepare({
    dataDirectory: join(folder, 'data'),
    port: await freePort(),
    password: randomBytes(16).toString('hex'),
    logFile: join(folder, 'postgres.log'),
    settings: {
      max_connections: '200',
      // The write-ahead log stays in the memory of PostgreSQL's own processes, which a kill of all of them takes away.
      // Nor may a page that is written take it to the disk.
      ...(losesCommitsOf !== undefined && {
        synchronous_commit: 'off',
        wal_writer_delay: `${losesCommitsOf}ms`,
        wal_buffers: '64MB',
        bgwriter_lru_maxpages: '0',
        checkpoint_timeout: '1h',
      }),
    },
  });
  await postgres.start();
  await postgres.createDatabase('reseller');
  const url = postgres.url('reseller');
  await migrate(url);
  const control = controls(postgres, folder, join(folder, 'data'));
  return {
    url,
    ...control,
    setBack: async () => {
      const before = await positionOf(url);
      control.freeze();
      await control.kill();
      await control.start();
      const after = await positionOf(url);
      return { transactions: Math.max(0, before.transaction - after.transaction), bytes: before.unwritten };
    },
    makeDurable: () => withClient(url, makeDurable, MAY_BE_FROZEN),
    keepNothingMore: () =>
      withClient(
        url,
        async (client) => {
          // First what writes by itself stands still, then what there is is written by us.
          const { rows } = await client.query<{ pid: number }>(
            "SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'",
          );
          for (const { pid } of rows) sendSignal(pid, 'SIGSTOP');
          await makeDurable(client);
        },
        MAY_BE_FROZEN,
      ),
  };
}

/** A test may have stopped the server for a minute and a half; it answers when it goes on. */
const MAY_BE_FROZEN = { connectTimeoutMs: 120_000 } as const;

async function makeDurable(client: Client): Promise<void> {
  await client.query('SET synchronous_commit = on');
  await client.query("SELECT pg_logical_emit_message(true, 'test', 'durable')");
}

/** The next transaction's number, and how much of the write-ahead log is not written yet. */
async function positionOf(url: string): Promise<{ readonly transaction: number; readonly unwritten: number }> {
  const { rows } = await withClient(
    url,
    (client) =>
      client.query<{ transaction: string; unwritten: string }>(
        `SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS transaction,
          pg_wal_lsn_diff(pg_current_wal_insert_lsn(), pg_current_wal_lsn())::text AS unwritten`,
      ),
    MAY_BE_FROZEN,
  );
  return { transaction: Number(rows[0]?.transaction), unwritten: Number(rows[0]?.unwritten) };
}

/**
 * A Temporal server that runs, with state that survives a kill.
 *
 * @param options.longFrom events from which on it suggests to a workflow that it go on in a new run; some thousands
 * by default.
 */
export async function startOwnTemporal({ longFrom }: { readonly longFrom?: number } = {}): Promise<OwnTemporal> {
  const folder = temporaryFolder('temporal');
  const environment = process.env;
  const cli = await obtainTemporalCli({ environment, progress: () => undefined });
  const data = join(folder, 'data');
  mkdirSync(data);
  const temporal = new TemporalServer({
    cli: cli.path,
    port: await freePort(),
    databaseFile: join(data, 'temporal.db'),
    ...(longFrom !== undefined && { dynamicConfig: [`limit.historyCount.suggestContinueAsNew=${longFrom}`] }),
    logFile: join(folder, 'temporal.log'),
    environment,
  });
  await temporal.start();
  return { address: temporal.address, ...controls(temporal, folder, data) };
}

/** @param data of the server, inside its folder. */
function controls(server: EmbeddedPostgres | TemporalServer, folder: string, data: string): OwnServer {
  const takeBack = atEnd(() => server.child?.killNow());
  let backups = 0;
  const kill = async () => {
    // PostgreSQL's processes lead groups of their own; those that outlived their parent would write on.
    if (server.child?.identity !== undefined) signalTree(server.child.identity.pid, 'SIGKILL');
    await server.kill();
  };
  return {
    start: () => server.start(),
    stop: () => server.stop(),
    kill,
    backUp: async () => {
      backups += 1;
      const backup = join(folder, `backup-${backups}`);
      await server.stop();
      // It keeps the owner of each file, which Node.js's own copy does not.
      await run('cp', ['-a', data, backup]);
      await server.start();
      return backup;
    },
    restore: async (backup) => {
      await kill();
      rmSync(data, { recursive: true, force: true });
      if (backup === undefined) mkdirSync(data);
      else await run('cp', ['-a', backup, data]);
      await server.start();
    },
    freeze: () => void (server.child?.identity !== undefined && signalTree(server.child.identity.pid, 'SIGSTOP')),
    thaw: () => void (server.child?.identity !== undefined && signalTree(server.child.identity.pid, 'SIGCONT')),
    [Symbol.asyncDispose]: async () => {
      await server.kill();
      takeBack();
      removeFolder(folder);
    },
  };
}
