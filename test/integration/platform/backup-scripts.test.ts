/** The scripts of the compose profile `backup`, run with PostgreSQL's own tools where this machine has them. */
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { freePort } from '#cli/embedded/ports.ts';
import { giveTo, postgresAccount } from '#cli/embedded/postgres-account.ts';
import { PROJECT } from '#test/support/compose.ts';
import { removeFolder, temporaryFolder } from '#test/support/temporary.ts';
import { waitFor } from '#test/support/wait-for.ts';

const run = promisify(execFile);

/** Folder of a complete PostgreSQL installation, whose tools and server have the same version. */
function installation(): string | undefined {
  const folders = existsSync('/usr/lib/postgresql') ? readdirSync('/usr/lib/postgresql') : [];
  return folders
    .map((version) => `/usr/lib/postgresql/${version}/bin`)
    .find((folder) =>
      ['postgres', 'initdb', 'pg_basebackup', 'pg_receivewal', 'psql'].every((name) => existsSync(join(folder, name))),
    );
}

const bin = installation();

async function stop(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  await once(child, 'exit');
}

if (bin === undefined) {
  process.stdout.write(
    'DID NOT RUN: the backup scripts, because this machine has no PostgreSQL with pg_basebackup ' +
      '(Debian: apt-get install postgresql)\n',
  );
}

describe.skipIf(bin === undefined)('the backup scripts of compose', () => {
  it('restore the last commit before a crash from a base backup and the received log, and replace nothing', async () => {
    const folder = temporaryFolder('scripts');
    const account = postgresAccount(folder);
    const backups = join(folder, 'backups');
    mkdirSync(backups);
    giveTo(account, folder);
    const port = await freePort();
    const environment = {
      PATH: `${bin}:${process.env['PATH']}`,
      LC_ALL: 'C',
      PGHOST: '127.0.0.1',
      PGPORT: String(port),
      PGUSER: 'postgres',
      BACKUP_FOLDER: backups,
    };
    const options = { ...account, env: environment, cwd: folder };
    // As the image does it: no password for connections from the same host.
    execFileSync(join(bin ?? '', 'initdb'), ['-D', 'data', '-U', 'postgres', '-A', 'trust'], {
      ...options,
      stdio: 'ignore',
    });
    const serve = () =>
      spawn(join(bin ?? '', 'postgres'), ['-D', 'data', '-k', folder, '-p', String(port)], {
        ...options,
        stdio: 'ignore',
      });
    let server = serve();
    const sql = (text: string) =>
      run('psql', ['-d', 'postgres', '-Atc', text], options).then(({ stdout }) => stdout.trim());
    try {
      await waitFor('the server answers', () => sql('SELECT 1'));
      const script = (name: string) => join(PROJECT, 'ops/postgres', name);
      const receiver = spawn('bash', [script('receive-wal.sh')], { ...options, stdio: 'ignore' });
      await waitFor('the receiver works', async () => (await sql('SELECT active FROM pg_replication_slots')) === 't');
      const { stdout } = await run('bash', [script('back-up.sh')], options);
      const backup = stdout.trim().split('\n').at(-1) ?? '';
      expect(readdirSync(backup).toSorted()).toEqual(['backup_manifest', 'base.tar.gz', 'pg_wal.tar.gz']);
      await sql('CREATE TABLE marks (mark text)');
      const file = await sql('SELECT pg_walfile_name(pg_switch_wal())');
      await waitFor('the log is archived', () => existsSync(join(backups, 'wal', file)));
      expect(await sql('SHOW max_slot_wal_keep_size')).toBe('10GB');
      await sql("INSERT INTO marks VALUES ('in a file that is not full')");
      const written = await sql('SELECT pg_current_wal_lsn()');
      await waitFor(
        'the receiver has it',
        async () => (await sql(`SELECT flush_lsn >= '${written}' FROM pg_stat_replication`)) === 't',
      );
      const elsewhere = { ...options, env: { ...environment, PGPORT: '1' } };
      await expect(run('bash', [script('back-up.sh')], elsewhere)).rejects.toThrow('pg_basebackup');
      expect(readdirSync(backups).filter((name) => name.startsWith('backup-'))).toHaveLength(1);

      await stop(server, 'SIGQUIT');
      await stop(receiver, 'SIGINT');
      const restore = () =>
        run('bash', [script('restore.sh'), basename(backup)], {
          ...options,
          env: { ...environment, PGDATA: join(folder, 'data') },
        });
      await expect(restore()).rejects.toThrow('A restore replaces nothing');
      rmSync(join(folder, 'data'), { recursive: true });
      await restore();
      server = serve();
      await waitFor('the server has recovered', async () => (await sql('SELECT NOT pg_is_in_recovery()')) === 't');
      expect(await sql('SELECT mark FROM marks')).toBe('in a file that is not full');
    } finally {
      await stop(server, 'SIGQUIT');
      removeFolder(folder);
    }
  });
});
