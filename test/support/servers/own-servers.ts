/** Own servers of a test that stops, kills and restarts them on the same port and data. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Client } from 'pg';
import { sendSignal } from '#cli/embedded/child.ts';
import { freePort } from '#cli/embedded/ports.ts';
import { EmbeddedPostgres, withClient } from '#cli/embedded/postgres.ts';
import { obtainTemporalCli } from '#cli/embedded/temporal-cli.ts';
import { TemporalServer } from '#cli/embedded/temporal-server.ts';
import { migrate } from '#db/connection/migrate.ts';
import { atEnd } from '#test/support/at-end.ts';
import { signalTree } from '#test/support/servers/process-tree.ts';
import { removeFolder, temporaryFolder } from '#test/support/temporary.ts';

const run = promisify(execFile);

interface OwnServer extends AsyncDisposable {
  /** Starts the server on the same port and data, and waits until it is ready. */
  start(): Promise<void>;
  /** Stops the server as an administrator would. */
  stop(): Promise<void>;
  /** Kills the server as a power cut would. */
  kill(): Promise<void>;
  /** Stops all its processes (SIGSTOP) until {@link thaw}. Connections stay open. */
  freeze(): void;
  thaw(): void;
  /** Stops the server, backs its data up and starts it again. @returns the folder of the backup. */
  backUp(): Promise<string>;
  /** Kills the server and removes its data, as the loss of its disk does. */
  destroy(): Promise<void>;
  /** Kills the server, replaces its data with a backup, and starts it. @param backup undefined: without data. */
  restore(backup: string | undefined): Promise<void>;
}

/** The commits that PostgreSQL lost. */
interface LostCommits {
  readonly transactions: number;
  /** Lost bytes of the write-ahead log. */
  readonly bytes: number;
  /** Time of the kill on the machine's clock. A commit before it may be lost, also one after `setBack` was called. */
  readonly killedAtMs: number;
}

export interface OwnPostgres extends OwnServer {
  /** A migrated database. */
  readonly url: string;
  readonly dataDirectory: string;
  /** Kills all processes at one moment, so that unwritten commits are lost, and restarts. Needs `losesCommitsOf`. */
  setBack(): Promise<LostCommits>;
  /** Makes all earlier commits durable. */
  makeDurable(): Promise<void>;
  /** Like {@link makeDurable}. In addition, later commits are not written until {@link setBack}. */
  keepNothingMore(): Promise<void>;
}

export interface OwnTemporal extends OwnServer {
  readonly address: string;
  readonly databaseFile: string;
}

/**
 * Starts a PostgreSQL whose data survives a kill.
 *
 * @param options.losesCommitsOf delay of the write of a commit in milliseconds, at most 10,000. A kill before the
 * write loses the commit. By default no commit is lost.
 * @param options.walArchive folder for the archive of the write-ahead log; undefined: no archive.
 * @param options.settings more settings of the server.
 */
export async function startOwnPostgres({
  losesCommitsOf,
  walArchive,
  settings,
}: {
  readonly losesCommitsOf?: number;
  readonly walArchive?: string;
  readonly settings?: Readonly<Record<string, string>>;
} = {}): Promise<OwnPostgres> {
  const folder = temporaryFolder('postgres');
  const postgres = await EmbeddedPostgres.prepare({
    dataDirectory: join(folder, 'data'),
    port: await freePort(),
    password: randomBytes(16).toString('hex'),
    logFile: join(folder, 'postgres.log'),
    ...(walArchive !== undefined && { walArchive }),
    settings: {
      max_connections: '200',
      ...settings,
      // The write-ahead log stays in the memory of PostgreSQL's processes, so a kill of all of them loses it. Page
      // writes must not flush it to the disk.
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
    dataDirectory: join(folder, 'data'),
    ...control,
    setBack: async () => {
      const before = await positionOf(url);
      control.freeze();
      const killedAtMs = Date.now();
      await control.kill();
      await control.start();
      const after = await positionOf(url);
      return { transactions: Math.max(0, before.transaction - after.transaction), bytes: before.unwritten, killedAtMs };
    },
    makeDurable: () => withClient(url, makeDurable, MAY_BE_FROZEN),
    keepNothingMore: () =>
      withClient(
        url,
        async (client) => {
          // Stop the background writer of the log first, then write the present log.
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

/** A test may have frozen the server for a minute and a half. It answers after that. */
const MAY_BE_FROZEN = { connectTimeoutMs: 120_000 } as const;

async function makeDurable(client: Client): Promise<void> {
  await client.query('SET synchronous_commit = on');
  await client.query("SELECT pg_logical_emit_message(true, 'test', 'durable')");
}

/** The number of the next transaction, and the number of unwritten bytes of the write-ahead log. */
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
 * Starts a Temporal server whose state survives a kill.
 *
 * @param options.longFrom number of events from which on the server suggests continue-as-new. The default is some
 * thousands.
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
  return { address: temporal.address, databaseFile: join(data, 'temporal.db'), ...controls(temporal, folder, data) };
}

/** The controls of a server. @param data the data folder of the server, inside `folder`. */
function controls(server: EmbeddedPostgres | TemporalServer, folder: string, data: string): OwnServer {
  const takeBack = atEnd(() => server.child?.killNow());
  let backups = 0;
  const kill = async () => {
    // PostgreSQL's processes have their own groups. Those that outlive their parent would continue to write.
    if (server.child?.identity !== undefined) signalTree(server.child.identity.pid, 'SIGKILL');
    await server.kill();
  };
  const destroy = async () => {
    await kill();
    rmSync(data, { recursive: true, force: true });
  };
  return {
    start: () => server.start(),
    stop: () => server.stop(),
    kill,
    backUp: async () => {
      backups += 1;
      const backup = join(folder, `backup-${backups}`);
      await server.stop();
      // `cp -a` keeps the owner of each file. The copy function of Node.js does not.
      await run('cp', ['-a', data, backup]);
      await server.start();
      return backup;
    },
    destroy,
    restore: async (backup) => {
      await destroy();
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
