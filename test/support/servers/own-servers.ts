/** Own servers of a test that stops, kills and restarts them on the same port and data. */
import { execFile } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Client } from 'pg';
import { sendSignal } from '#cli/embedded/child.ts';
import { withClient, type EmbeddedPostgres } from '#cli/embedded/postgres.ts';
import type { TemporalServer } from '#cli/embedded/temporal-server.ts';
import { atEnd } from '#test/support/at-end.ts';
import { startPostgres, startTemporal } from '#test/support/servers/embedded.ts';
import { signalTree } from '#test/support/servers/process-tree.ts';
import { removeFolder, temporaryFolder } from '#test/support/temporary.ts';

const run = promisify(execFile);

export type OwnPostgres = Awaited<ReturnType<typeof startOwnPostgres>>;
export type OwnTemporal = Awaited<ReturnType<typeof startOwnTemporal>>;

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
} = {}) {
  const folder = temporaryFolder('postgres');
  const postgres = await startPostgres(folder, 'reseller', {
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
  const url = postgres.url('reseller');
  const dataDirectory = join(folder, 'data');
  const control = controls(postgres, folder, dataDirectory);
  return {
    url,
    dataDirectory,
    ...control,
    /**
     * Kills all processes at one moment, so that unwritten commits are lost, and restarts. Needs `losesCommitsOf`.
     *
     * @returns what was lost: transactions, and bytes of the write-ahead log. A commit before the time of the kill on
     * the machine's clock may be lost, also one after `setBack` was called.
     */
    setBack: async () => {
      const before = await positionOf(url);
      control.freeze();
      const killedAtMs = Date.now();
      await control.kill();
      await control.start();
      const after = await positionOf(url);
      return { transactions: Math.max(0, before.transaction - after.transaction), bytes: before.unwritten, killedAtMs };
    },
    /** Makes all earlier commits durable. */
    makeDurable: () => withClient(url, makeDurable, MAY_BE_FROZEN),
    /** Like `makeDurable`. In addition, later commits are not written until `setBack`. */
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
async function positionOf(url: string) {
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
export async function startOwnTemporal({ longFrom }: { readonly longFrom?: number } = {}) {
  const folder = temporaryFolder('temporal');
  const data = join(folder, 'data');
  mkdirSync(data);
  const databaseFile = join(data, 'temporal.db');
  const temporal = await startTemporal(folder, {
    databaseFile,
    ...(longFrom !== undefined && { dynamicConfig: [`limit.historyCount.suggestContinueAsNew=${longFrom}`] }),
  });
  return { address: temporal.address, databaseFile, ...controls(temporal, folder, data) };
}

/** The controls of a server. @param data the data folder of the server, inside `folder`. */
function controls(server: EmbeddedPostgres | TemporalServer, folder: string, data: string) {
  const takeBack = atEnd(() => server.child?.killNow());
  let backups = 0;
  const signal = (name: NodeJS.Signals): void => {
    if (server.child?.identity !== undefined) signalTree(server.child.identity.pid, name);
  };
  const kill = async () => {
    // PostgreSQL's processes have their own groups. Those that outlive their parent would continue to write.
    signal('SIGKILL');
    await server.kill();
  };
  const destroy = async () => {
    await kill();
    rmSync(data, { recursive: true, force: true });
  };
  return {
    /** Starts the server on the same port and data, and waits until it is ready. */
    start: () => server.start(),
    /** Stops the server as an administrator would. */
    stop: () => server.stop(),
    /** Kills the server as a power cut would. */
    kill,
    /** Stops the server, backs its data up and starts it again. @returns the folder of the backup. */
    backUp: async () => {
      backups += 1;
      const backup = join(folder, `backup-${backups}`);
      await server.stop();
      // `cp -a` keeps the owner of each file. The copy function of Node.js does not.
      await run('cp', ['-a', data, backup]);
      await server.start();
      return backup;
    },
    /** Kills the server and removes its data, as the loss of its disk does. */
    destroy,
    /** Kills the server, replaces its data with a backup, and starts it. @param backup undefined: without data. */
    restore: async (backup: string | undefined) => {
      await destroy();
      if (backup === undefined) mkdirSync(data);
      else await run('cp', ['-a', backup, data]);
      await server.start();
    },
    /** Stops all its processes until `thaw`. Connections stay open. */
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    [Symbol.asyncDispose]: async () => {
      await server.kill();
      takeBack();
      removeFolder(folder);
    },
  };
}
