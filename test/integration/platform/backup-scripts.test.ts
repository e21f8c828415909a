/** The scripts of the compose profile `backup`, run with PostgreSQL's own tools where this machine has them. */
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { freePort } from '#cli/embedded/ports.ts';
import { giveTo, postgresAccount } from '#cli/embedded/postgres-account.ts';
import { composeService, PROJECT } from '#test/support/compose.ts';
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

/** The server and the scripts of the compose profile `backup`, with changed addresses and paths only. */
async function startInstallation() {
  const folder = temporaryFolder('scripts');
  const account = postgresAccount(folder);
  const backups = join(folder, 'backups');
  const passwordFile = join(folder, 'password');
  mkdirSync(backups);
  writeFileSync(passwordFile, 'password-of-the-test\n');
  copyFileSync(join(PROJECT, 'ops/postgres/pg_hba.conf'), join(folder, 'pg_hba.conf'));
  giveTo(account, folder);
  // As root this test has the two accounts of the containers: root runs the scripts, `postgres` runs the server. A
  // received file is readable by its owner only.
  if (account !== undefined) chownSync(backups, 0, 0);
  const port = await freePort();
  const environment = {
    PATH: `${bin}:${process.env['PATH']}`,
    LC_ALL: 'C',
    ...composeService('wal-receiver').environment,
    PGHOST: '127.0.0.1',
    PGPORT: String(port),
    POSTGRES_PASSWORD_FILE: passwordFile,
    BACKUP_FOLDER: backups,
    PGDATA: join(folder, 'data'),
  };
  const options = { env: environment, cwd: folder };
  const asServer = { ...options, ...account, stdio: 'ignore' } as const;
  const settings = (composeService('postgres').command ?? []).slice(1);
  const script = (name: string) => join(PROJECT, 'ops/postgres', name);
  // As the image does it.
  const initdb = ['-D', 'data', '-U', 'postgres', '-A', 'trust', '--pwfile', passwordFile, '--wal-segsize=1'];
  execFileSync(join(bin ?? '', 'initdb'), initdb, asServer);
  const receiverLog = join(folder, 'receiver.log');
  const processes: ChildProcess[] = [];
  const started = (process: ChildProcess) => {
    processes.push(process);
    return process;
  };
  const sql = (text: string) =>
    run('psql', ['-h', folder, '-d', 'postgres', '-Atc', text], options).then(({ stdout }) => stdout.trim());
  /** The health check of the receiver. @throws Error when it is not healthy. */
  const checkHealth = () => {
    const [, command = ''] = composeService('wal-receiver').healthcheck?.test ?? [];
    return run('sh', ['-c', command.replaceAll('$$', '$')], options);
  };
  return {
    folder,
    backups,
    script,
    receiverLog,
    options,
    sql,
    checkHealth,
    serve: () => {
      const args = settings.map((each) => each.replace('/opt/', `${folder}/`));
      const own = ['-D', 'data', '-k', folder, '-p', String(port)];
      return started(spawn(join(bin ?? '', 'postgres'), [...args, ...own], asServer));
    },
    answers: () => waitFor('the server answers', () => sql('SELECT 1')),
    receive: async () => {
      const log = openSync(receiverLog, 'a');
      const receiver = started(
        spawn('bash', [script('receive-wal.sh')], { ...options, stdio: ['ignore', 'ignore', log] }),
      );
      closeSync(log);
      await waitFor('the receiver is healthy', () => checkHealth().then(() => true), {
        context: () => readFileSync(receiverLog, 'utf8'),
      });
      return receiver;
    },
    recovered: () =>
      waitFor('the server has recovered', async () => (await sql('SELECT NOT pg_is_in_recovery()')) === 't'),
    isArchived: (file: string) => waitFor('the log is archived', () => existsSync(join(backups, 'wal', file))),
    [Symbol.asyncDispose]: async () => {
      for (const process of processes.toReversed()) await stop(process, 'SIGQUIT');
      removeFolder(folder);
    },
  };
}

if (bin === undefined) {
  process.stdout.write(
    'DID NOT RUN: the backup scripts, because this machine has no PostgreSQL with pg_basebackup ' +
      '(Debian: apt-get install postgresql)\n',
  );
}

describe.skipIf(bin === undefined)('the backup scripts of compose', () => {
  it('restore the last commit before a crash or up to a time, replace nothing, and begin a new archive', async () => {
    await using installation = await startInstallation();
    const { folder, backups, script, options, serve, answers, receive, recovered, isArchived, sql } = installation;
    let server = serve();
    await answers();
    let receiver = await receive();
    const { stdout } = await run('bash', [script('back-up.sh')], options);
    const backup = stdout.trim().split('\n').at(-1) ?? '';
    expect(readdirSync(backup).toSorted()).toEqual(['backup_manifest', 'base.tar.gz', 'pg_wal.tar.gz']);
    await sql('CREATE TABLE marks (mark text)');
    const file = await sql('SELECT pg_walfile_name(pg_switch_wal())');
    await isArchived(file);
    expect(await sql('SHOW max_slot_wal_keep_size')).toBe('10GB');
    await sql("INSERT INTO marks VALUES ('before the time')");
    const time = await sql(`SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US"Z"')`);
    await sql("INSERT INTO marks VALUES ('in a file that is not full')");
    const written = await sql('SELECT pg_current_wal_lsn()');
    await waitFor(
      'the receiver has it',
      async () => (await sql(`SELECT flush_lsn >= '${written}' FROM pg_stat_replication`)) === 't',
    );
    const elsewhere = { ...options, env: { ...options.env, PGPORT: '1' } };
    await expect(run('bash', [script('back-up.sh')], elsewhere)).rejects.toThrow('pg_basebackup');
    expect(readdirSync(backups).filter((name) => name.startsWith('backup-'))).toHaveLength(1);

    await stop(receiver, 'SIGINT');
    await sql("INSERT INTO marks VALUES ('on the disk of the server only')");
    await stop(server, 'SIGQUIT');
    const restore = (name = basename(backup), until = '') => run('bash', [script('restore.sh'), name, until], options);
    await expect(restore()).rejects.toThrow('A restore replaces nothing');
    renameSync(join(folder, 'data'), join(folder, 'data.lost'));
    await restore();
    // A file that the server cannot read must not end the recovery early.
    const received = join(folder, 'data/archived_wal', file);
    chmodSync(received, 0);
    server = serve();
    await once(server, 'exit');
    expect(server.exitCode).toBe(1);
    chmodSync(received, 0o600);
    server = serve();
    const marks = async () => {
      await recovered();
      return (await sql('SELECT mark FROM marks')).split('\n');
    };
    expect(await marks()).toEqual(['before the time', 'in a file that is not full']);
    await waitFor('the copy of the archive is deleted', () => !existsSync(join(folder, 'data/archived_wal')));

    // By the guide: the old archive is moved away, the log of the readable disk is added, a new archive begins.
    mkdirSync(join(backups, 'before-1'));
    for (const name of ['wal', basename(backup)]) renameSync(join(backups, name), join(backups, 'before-1', name));
    const again = async (until: string, prepare?: () => Promise<unknown>) => {
      await stop(server, 'SIGQUIT');
      rmSync(join(folder, 'data'), { recursive: true });
      await restore(join('before-1', basename(backup)), until);
      await prepare?.();
      server = serve();
      return marks();
    };
    const addLog = () => run('bash', ['-c', 'cp -pn data.lost/pg_wal/0* data/archived_wal/'], options);
    expect(await again('', addLog)).toHaveLength(3);
    expect(await again(time)).toEqual(['before the time']);
    receiver = await receive();
    await run('bash', [script('back-up.sh')], options);
    expect(readdirSync(backups).filter((name) => name.startsWith('backup-'))).toHaveLength(1);
  });

  it('need the password of the server, and the receiver ends with it, so that it is started again', async () => {
    await using installation = await startInstallation();
    const { options, serve, answers, receive, script, checkHealth, isArchived, sql } = installation;
    let server = serve();
    await answers();
    for (const name of ['receive-wal.sh', 'back-up.sh']) {
      const without = { ...options, env: { ...options.env, POSTGRES_PASSWORD_FILE: '' } };
      await expect(run('bash', [script(name)], without), name).rejects.toThrow('no password supplied');
    }
    const receiver = await receive();

    const ended = once(receiver, 'exit');
    await stop(server, 'SIGQUIT');
    expect(await ended).toEqual([1, null]);
    await expect(checkHealth()).rejects.toThrow('Command failed');
    server = serve();
    await answers();
    await expect(checkHealth()).rejects.toThrow('Command failed');
    await receive();
    const file = await sql('SELECT pg_walfile_name(pg_switch_wal())');
    await isArchived(file);
  });

  it('begin a new archive after a gap, and keep the former one with the backups that need it', async () => {
    await using installation = await startInstallation();
    const { folder, backups, options, serve, answers, receive, recovered, isArchived, receiverLog, script, sql } =
      installation;
    let server = serve();
    await answers();
    let receiver = await receive();
    const backUp = async () => basename((await run('bash', [script('back-up.sh')], options)).stdout.trim());
    const former = await backUp();
    const mark = async (text: string) => {
      await sql(`CREATE TABLE IF NOT EXISTS marks (mark text); INSERT INTO marks VALUES ('${text}')`);
      return sql('SELECT pg_walfile_name(pg_switch_wal())');
    };
    await isArchived(await mark('before the gap'));
    await stop(receiver, 'SIGINT');

    await sql("ALTER SYSTEM SET max_slot_wal_keep_size = '1MB'");
    await sql('SELECT pg_reload_conf()');
    await waitFor('the server has deleted log that was not received', async () => {
      await mark('in the gap');
      await sql('CHECKPOINT');
      return (await sql('SELECT wal_status FROM pg_replication_slots')) === 'lost';
    });
    // As a script leaves it that was interrupted while it moved the archive.
    mkdirSync(join(backups, 'before.partial'));
    renameSync(join(backups, former), join(backups, 'before.partial', former));
    receiver = await receive();
    const [moved = '', ...others] = readdirSync(backups).toSorted();
    expect([moved, others]).toEqual([expect.stringMatching(/^before-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ$/), ['wal']]);
    expect(readdirSync(join(backups, moved)).toSorted()).toEqual([former, 'wal']);
    expect(readFileSync(receiverLog, 'utf8')).toContain(`are now in ${join(backups, moved)}`);
    expect(readFileSync(receiverLog, 'utf8')).toContain('It needs a new base backup: make one now.');
    expect(await sql('SHOW max_slot_wal_keep_size')).toBe('10GB');

    const next = await backUp();
    await isArchived(await mark('after the gap'));
    const restored = async (name: string) => {
      await stop(server, 'SIGQUIT');
      rmSync(join(folder, 'data'), { recursive: true });
      await run('bash', [script('restore.sh'), name], options);
      server = serve();
      await recovered();
      return (await sql('SELECT DISTINCT mark FROM marks ORDER BY mark')).split('\n');
    };
    expect(await restored(next)).toEqual(['after the gap', 'before the gap', 'in the gap']);
    expect(await restored(join(moved, former))).toEqual(['before the gap']);

    await stop(server, 'SIGQUIT');
    const after = '000000010000FFFF00000001';
    const restoreWith = async (files: readonly string[]) => {
      rmSync(join(folder, 'data'), { recursive: true, force: true });
      rmSync(join(backups, moved, 'wal'), { recursive: true });
      mkdirSync(join(backups, moved, 'wal'));
      for (const file of files) writeFileSync(join(backups, moved, 'wal', file), '');
      return (await run('bash', [script('restore.sh'), join(moved, former)], options)).stderr;
    };
    const missing = new RegExp(`has no files between 00000001[0-9A-F]{16} and ${after}: the server recovers no`);
    expect(await restoreWith([...readdirSync(join(backups, moved, 'wal')), after])).toMatch(missing);
    // The archive begins long after the log in the backup.
    expect(await restoreWith([after])).toMatch(missing);
    expect(await restoreWith([])).toContain('has no files since the backup: all later changes are lost.');
  });
});
