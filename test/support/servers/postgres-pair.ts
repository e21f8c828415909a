/** A PostgreSQL server with a synchronous replica, which takes its address over. */
import { execFile } from 'node:child_process';
import { appendFileSync, chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { BASE_ARCHIVE, writeBaseBackup } from '#cli/backup/base-backup.ts';
import { freePort } from '#cli/embedded/ports.ts';
import { giveTo, postgresAccount } from '#cli/embedded/postgres-account.ts';
import { EmbeddedPostgres, STANDBY_SIGNAL, withClient } from '#cli/embedded/postgres.ts';
import { atEnd } from '#test/support/at-end.ts';
import { startOwnPostgres, type OwnPostgres } from '#test/support/servers/own-servers.ts';
import { removeFolder, temporaryFolder } from '#test/support/temporary.ts';
import { waitFor } from '#test/support/wait-for.ts';

const run = promisify(execFile);

/** Name of the replica in `synchronous_standby_names`. */
const REPLICA = 'replica';
/** Two machines and a Temporal server use one server; a replica needs at least the value of its primary. */
const SETTINGS = { max_connections: '300' };

const DATA = 'data';

/** Starts both. A commit is acknowledged only when the replica has it on its disk. */
export async function startPostgresPair() {
  const primary = await startOwnPostgres({ settings: SETTINGS });
  const folder = temporaryFolder('replica');
  await fillReplica(primary, folder);
  let replica = await onReplica(primary, folder, await freePort());
  const takeBack = atEnd(() => replica.child?.killNow());
  await replica.start();
  await replicates(primary.url);
  return {
    /** A migrated database, at the address that the replica takes over. */
    url: primary.url,
    /**
     * Kills the primary server, promotes the replica, and restarts it at the address of the primary: that stands for a
     * DNS name or a virtual address that moves. Nothing has to detect the failure, so that time is not part of it.
     */
    failOver: async () => {
      await primary.kill();
      await withClient(replica.url('postgres'), (client) => client.query('SELECT pg_promote()'));
      await replica.stop();
      replica = await onReplica(primary, folder, Number(new URL(primary.url).port));
      await replica.start();
    },
    [Symbol.asyncDispose]: async () => {
      await replica.kill();
      takeBack();
      removeFolder(folder);
      await primary[Symbol.asyncDispose]();
    },
  };
}

/** Fills the data folder of a replica from a base backup, as `pg_basebackup --write-recovery-conf` does. */
async function fillReplica(primary: OwnPostgres, folder: string): Promise<void> {
  await writeBaseBackup(primary.url, folder);
  const data = join(folder, DATA);
  mkdirSync(data);
  await run('tar', ['-xf', join(folder, BASE_ARCHIVE), '-C', data]);
  const { hostname, port, username, password } = new URL(primary.url);
  const source = `host=${hostname} port=${port} user=${username} password=${password} application_name=${REPLICA}`;
  appendFileSync(join(data, 'postgresql.auto.conf'), `primary_conninfo = '${source}'\n`);
  writeFileSync(join(data, STANDBY_SIGNAL), '');
  chmodSync(data, 0o700);
  giveTo(postgresAccount(primary.dataDirectory), data);
}

/** A server on the data of the replica, not started. */
function onReplica(primary: OwnPostgres, folder: string, port: number): Promise<EmbeddedPostgres> {
  const { password } = new URL(primary.url);
  const logFile = join(folder, 'postgres.log');
  return EmbeddedPostgres.prepare({ dataDirectory: join(folder, DATA), port, password, logFile, settings: SETTINGS });
}

async function replicates(url: string): Promise<void> {
  await withClient(url, async (client) => {
    await client.query(`ALTER SYSTEM SET synchronous_standby_names = '${REPLICA}'`);
    await client.query('SELECT pg_reload_conf()');
    await waitFor('the replica is synchronous', async () => {
      const { rows } = await client.query("SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'");
      return rows.length > 0;
    });
  });
}
