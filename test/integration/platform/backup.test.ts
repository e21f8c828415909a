import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sql } from 'drizzle-orm';
import pg from 'pg';
import { afterAll, assert, beforeAll, describe, expect, it } from 'vitest';
import { backUp } from '#cli/backup/backup.ts';
import { restore } from '#cli/backup/restore.ts';
import { checkDatabase } from '#cli/doctor/checks/database.ts';
import { asAccount, postgresAccount } from '#cli/embedded/postgres-account.ts';
import { findPostgresBinaries } from '#cli/embedded/postgres-binaries.ts';
import { EmbeddedPostgres, withClient } from '#cli/embedded/postgres.ts';
import { archiveSettings } from '#cli/embedded/wal-archive.ts';
import { UserError } from '#cli/terminal/user-error.ts';
import { KeyRing } from '#crypto/key-ring.ts';
import { registerKeys } from '#db/connection/encryption-keys.ts';
import { captured } from '#test/support/cli-output.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { openDatabase } from '#test/support/servers/database.ts';
import { startOwnPostgres } from '#test/support/servers/own-servers.ts';
import { removeFolder, temporaryFolder } from '#test/support/temporary.ts';
import { waitFor } from '#test/support/wait-for.ts';

const SILENT = { write: () => true };
const KEY = randomBytes(32);
const KEYS = { ENCRYPTION_KEYS: `one:${KEY.toString('base64')}` };
/** `secrets.json` of an `npm start`. */
const SECRETS = {
  encryption_keys: KEYS.ENCRYPTION_KEYS,
  webhook_secret: 'whsec_12345678',
  postgres_password: 'password',
  simulator_password: 'password',
};

const folder = temporaryFolder('backup');
afterAll(() => removeFolder(folder));
const archive = join(folder, 'the', 'archive');
const postgres = disposedAtEnd(await startOwnPostgres({ walArchive: archive }));

beforeAll(async () => {
  const database = openDatabase(postgres.url);
  await registerKeys(database, new KeyRing([{ id: 'one', key: KEY }]));
  await database.run((db) => db.execute(sql`create table marks (mark text not null)`));
  await database.close();
});

/** The first column of what a statement gives. */
async function query(statement: string, values: unknown[] = []): Promise<string[]> {
  const { rows } = await withClient(postgres.url, (client) =>
    client.query<string[]>({ text: statement, values, rowMode: 'array' }),
  );
  return rows.map(([first = '']) => first);
}

/** @returns the time of its commit. */
async function mark(text: string): Promise<string> {
  await query('INSERT INTO marks VALUES ($1)', [text]);
  return (await query(`SELECT to_json(clock_timestamp()) #>> '{}'`))[0] ?? '';
}

const marks = () => query('SELECT mark FROM marks ORDER BY mark');
const timeline = async () => (await query('SELECT left(pg_walfile_name(pg_current_wal_lsn()), 8)'))[0] ?? '';

/** Ends the current file of the log. @returns its name. */
async function endFile(): Promise<string> {
  // A file without a change is not ended.
  await query("SELECT pg_logical_emit_message(true, 'test', 'the last change of a file')");
  return (await query('SELECT pg_walfile_name(pg_switch_wal())'))[0] ?? '';
}

/** Ends the current file of the log, and waits until it is in the archive. */
async function archived(): Promise<void> {
  const file = await endFile();
  await waitFor('the log is archived', () => existsSync(join(archive, file)));
}

/** `cp -a` keeps the owner of each file. The copy function of Node.js does not. */
function copyArchive(place: string): void {
  execFileSync('cp', ['-a', archive, place]);
}

const make = (more: { readonly temporalFile?: string; readonly folder?: string } = {}, url = postgres.url) =>
  backUp({ folder: join(folder, 'backups'), ...more }, { ...KEYS, DATABASE_URL: url }, SILENT);
const put = (backup: string, more: { walArchive?: string; until?: string } = {}, keys = KEYS) =>
  restore({ backup, target: { postgres: postgres.dataDirectory }, ...more }, keys, SILENT);

/** What the server has after the loss of its data and a restore. */
async function marksAfter(...given: Parameters<typeof put>): Promise<string[]> {
  await postgres.destroy();
  await put(...given);
  await postgres.start();
  return marks();
}

describe('a backup of PostgreSQL', () => {
  it('contains what was committed before its end, and begins a new timeline when it is restored', async () => {
    await mark('a: before the backup');
    const before = await timeline();
    const backup = await make();
    await mark('z: after the backup');
    expect(await marksAfter(backup)).toEqual(['a: before the backup']);
    expect(Number.parseInt(await timeline(), 16)).toBeGreaterThan(Number.parseInt(before, 16));
  });

  it('is restored with an archive to a point in time between two commits, or to the last archived commit', async () => {
    const backup = await make();
    const until = await mark('b: wanted');
    await mark('c: after the point in time');
    await archived();
    const wanted = ['a: before the backup', 'b: wanted'];
    expect(await marksAfter(backup, { walArchive: archive })).toEqual([...wanted, 'c: after the point in time']);
    expect(await marksAfter(backup, { walArchive: archive, until })).toEqual(wanted);
  });

  it('is restored with an archive that has a gap, and says so', async () => {
    const backup = await make();
    const incomplete = join(folder, 'incomplete');
    copyArchive(incomplete);
    const after = `${await timeline()}0000FFFF00000001`;
    writeFileSync(join(incomplete, after), '');
    const output = captured();
    const target = { postgres: join(folder, 'gap') };
    expect(await restore({ backup, target, walArchive: incomplete }, KEYS, output)).toBe(3);
    expect(output.text()).toMatch(new RegExp(`no files between [0-9A-F]{24} and ${after}: the server recovers no`));
  });

  it('is restored with an archive that can be read, or not at all: no archived change is lost', async (context) => {
    const { postgres: program } = await findPostgresBinaries();
    const asServer = asAccount(postgresAccount(postgres.dataDirectory), program, [], [postgres.dataDirectory]);
    context.skip(asServer.command !== program, 'a server below a closed folder has the right to read every file');
    const backup = await make();
    await mark('d: archived');
    await archived();
    const before = await marks();
    await postgres.stop();
    const odd = join(folder, String.raw`it's an \ archive, 100 %f`);
    copyArchive(odd);
    const files = readdirSync(odd).filter((each) => /^[0-9A-F]{24}$/.test(each));
    const name = files.toSorted().at(-1) ?? '';
    const newest = join(odd, name);
    await postgres.destroy();

    chmodSync(newest, 0);
    const denied = new RegExp(`cannot read the archive .*: .*${name}.*Permission denied`);
    await expect(put(backup, { walArchive: odd })).rejects.toThrow(denied);
    expect(existsSync(postgres.dataDirectory)).toBe(false);
    chmodSync(newest, 0o600);
    await put(backup, { walArchive: odd });
    chmodSync(newest, 0);
    await expect(postgres.start()).rejects.toThrow('it cannot read the archive of its log');
    renameSync(odd, `${odd}.away`);
    await expect(postgres.start()).rejects.toThrow('it cannot read the archive of its log');
    renameSync(`${odd}.away`, odd);
    chmodSync(newest, 0o600);
    await postgres.start();
    expect(await marks()).toEqual(before);
  });

  it('is complete and private, or does not exist', async () => {
    const backup = await make();
    expect(readdirSync(backup).toSorted()).toEqual(['backup.json', 'backup_manifest', 'base.tar']);
    for (const file of readdirSync(backup)) expect(statSync(join(backup, file)).mode & 0o077).toBe(0);
    const text = readFileSync(join(backup, 'backup.json'), 'utf8');
    expect(text).toContain('"keyId": "one"');
    expect(text).not.toContain(KEY.toString('base64'));
    const before = readdirSync(join(folder, 'backups'));
    const refused = new URL(postgres.url);
    refused.username = 'plain';
    refused.password = 'plain';
    await query(`CREATE ROLE plain LOGIN PASSWORD 'plain'`);
    await expect(make({}, refused.href)).rejects.toThrow('The server gave no base backup: permission denied');
    expect(readdirSync(join(folder, 'backups'))).toEqual(before);
  });
});

describe('a disk without enough space', () => {
  it('is named by a backup and by a restore, and neither leaves anything on it', async (context) => {
    const full = join(folder, 'full');
    mkdirSync(full);
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', full]).status === 0;
    context.skip(!mounted, 'only root can mount a small file system');
    try {
      const backups = join(full, 'backups');
      await expect(make({ folder: backups })).rejects.toThrow(`No space is left on the disk of ${backups}.`);
      expect(readdirSync(backups)).toEqual([]);

      const place = join(full, 'postgres');
      const restoring = restore({ backup: await make(), target: { postgres: place } }, KEYS, SILENT);
      await expect(restoring).rejects.toThrow(`No space is left on the disk of ${place}.`);
      expect(readdirSync(full)).toEqual(['backups']);

      // With Temporal's file, which fits.
      writeFileSync(join(full, 'secrets.json'), JSON.stringify(SECRETS));
      const live = new DatabaseSync(join(folder, 'small.db'));
      live.exec('CREATE TABLE t (n INTEGER)');
      live.close();
      const whole = await make({ temporalFile: join(folder, 'small.db') });
      await expect(restore({ backup: whole, target: { data: full } }, {}, SILENT)).rejects.toThrow('No space is left');
      expect(readdirSync(full).toSorted()).toEqual(['backups', 'secrets.json']);
    } finally {
      spawnSync('umount', [full]);
    }
  });
});

describe('a restore', () => {
  it('to a time that PostgreSQL cannot reach, or from an archive that does not exist, is refused', async () => {
    const backup = await make();
    await postgres.destroy();
    const to = (until: string) => put(backup, { walArchive: archive, until });
    await expect(to(new Date(Date.now() + 3_600_000).toISOString())).rejects.toThrow('is not between the end of this');
    await expect(to('2020-01-31T12:00:00Z')).rejects.toThrow('is not between the end of this backup');
    await expect(put(backup, { walArchive: join(folder, 'none') })).rejects.toThrow('is no folder');
    await expect(put(backup, { walArchive: backup })).rejects.toThrow('has no files of the write-ahead log');
    expect(existsSync(postgres.dataDirectory)).toBe(false);
    await put(backup);
    await postgres.start();
  });

  it('replaces nothing, and restores nothing with other keys or damaged files', async () => {
    const backup = await make();
    await expect(put(backup)).rejects.toThrow('exists. A restore replaces nothing');
    await postgres.destroy();
    const others = { ENCRYPTION_KEYS: `one:${randomBytes(32).toString('base64')}` };
    await expect(put(backup, {}, others)).rejects.toThrow('The encryption keys do not fit this backup');
    await expect(put(join(folder, 'backups'))).rejects.toThrow('not a complete backup');
    expect(existsSync(postgres.dataDirectory)).toBe(false);

    const archiveFile = join(backup, 'base.tar');
    const bytes = readFileSync(archiveFile);
    const place = bytes.indexOf('a: before the backup');
    expect(place).toBeGreaterThan(0);
    writeFileSync(archiveFile, Buffer.concat([bytes.subarray(0, place), Buffer.from('A'), bytes.subarray(place + 1)]));
    await expect(put(backup)).rejects.toThrow(/is damaged: base\/\d+\/\d+ is missing or has another content/);
    writeFileSync(archiveFile, bytes);
    const manifest = readFileSync(join(backup, 'backup_manifest'), 'utf8');
    writeFileSync(join(backup, 'backup_manifest'), manifest.replace('"Size": 8192', '"Size": 8193'));
    await expect(put(backup)).rejects.toThrow('is damaged: backup_manifest');
    expect(existsSync(postgres.dataDirectory)).toBe(false);
    writeFileSync(join(backup, 'backup_manifest'), manifest);

    await put(backup);
    await postgres.start();
    expect(await marks()).toContain('a: before the backup');
  });

  it('of an `npm start` needs its secrets, and brings Temporal’s file back as it was during the backup', async () => {
    const file = join(folder, 'live.db');
    const live = new DatabaseSync(file);
    live.exec('PRAGMA journal_mode = wal; CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (1)');
    const backup = await make({ temporalFile: file });
    live.exec('INSERT INTO t VALUES (2)');
    live.close();
    const data = join(folder, 'data');
    mkdirSync(data);
    const putBack = () => restore({ backup, target: { data } }, {}, SILENT);
    await expect(putBack()).rejects.toThrow('secrets.json is missing');
    writeFileSync(join(data, 'secrets.json'), JSON.stringify(SECRETS));

    const stored = join(backup, 'temporal.db');
    const bytes = readFileSync(stored);
    writeFileSync(stored, Buffer.concat([bytes.subarray(0, -1), Buffer.from([bytes.at(-1)! ^ 1])]));
    await expect(putBack()).rejects.toThrow('is damaged: temporal.db');
    expect(existsSync(join(data, 'postgres'))).toBe(false);
    writeFileSync(stored, bytes);
    await putBack();
    expect(existsSync(join(data, 'postgres', 'recovery.signal'))).toBe(true);
    const copy = new DatabaseSync(join(data, 'temporal.db'));
    expect(copy.prepare('SELECT n FROM t').all()).toEqual([{ n: 1 }]);
    copy.close();

    // The commands of the advice make room for another restore, and the moved file stays whole.
    const killed = [join(data, 'temporal.db-wal'), join(data, 'temporal.db-shm')];
    for (const each of killed) writeFileSync(each, '');
    const refused = await putBack().catch((error: unknown) => error);
    assert(refused instanceof UserError);
    const there = [join(data, 'postgres'), join(data, 'temporal.db'), ...killed];
    expect(refused.message).toContain(`${there.join(', ')} exist`);
    execFileSync('sh', ['-c', /\((mv .*)\)/.exec(refused.advice)?.[1] ?? '']);
    const moved = ['temporal.db.old', 'temporal.db.old-shm', 'temporal.db.old-wal'];
    expect(readdirSync(data).toSorted()).toEqual(['postgres.old', 'secrets.json', ...moved]);
    await putBack();

    for (const name of ['postgres', 'temporal.db']) rmSync(join(data, name), { recursive: true });
    const [wal = ''] = killed;
    writeFileSync(wal, '');
    await expect(putBack()).rejects.toMatchObject({
      message: `${wal} exists. A restore replaces nothing.`,
      advice: `Stop the server and move it away (mv ${wal} ${join(data, 'temporal.db.old-wal')}).`,
    });
  });
});

describe('the archive of the write-ahead log', () => {
  it('that the server cannot write to is refused before the server starts', async () => {
    const closed = join(folder, 'closed');
    mkdirSync(closed, { mode: 0o500 });
    const { dataDirectory } = postgres;
    const server = { account: postgresAccount(dataDirectory), dataDirectory, port: 1, password: 'x' };
    const start = EmbeddedPostgres.prepare({ ...server, logFile: join(folder, 'log'), walArchive: closed });
    await expect(start).rejects.toThrow(`PostgreSQL cannot write to the archive ${closed}: `);
    await expect(start).rejects.toBeInstanceOf(UserError);
    expect(readdirSync(closed)).toEqual([]);
  });

  it('that fails is shown by the doctor, with the file, until it works again', async () => {
    const database = openDatabase(postgres.url);
    const { url } = postgres;
    const look = () => checkDatabase(database, { url, directUrl: url, isPooled: false, poolSize: 1 });
    try {
      expect(await look()).toEqual({ status: 'ok', detail: 'PostgreSQL answers' });
      renameSync(archive, `${archive}.away`);
      await endFile();
      await waitFor('the doctor warns', async () => (await look()).status === 'warning');
      const notArchived = /its write-ahead log is not archived: 0000[0-9A-F]{20}.* failed at 20\d\d-/;
      expect((await look()).detail).toMatch(notArchived);
      renameSync(`${archive}.away`, archive);
      // The server tries again at once when a further file is full, else after a minute.
      await endFile();
      await waitFor('the doctor is content', async () => (await look()).status === 'ok');
    } finally {
      await database.close();
    }
  });

  it('accepts a file that it has already, and refuses another one of the same name', () => {
    const own = join(folder, "it's an archive, 100 %");
    mkdirSync(own);
    const [first, other] = [join(folder, 'first'), join(folder, 'other')];
    writeFileSync(first, 'one');
    writeFileSync(other, 'two');
    const command = archiveSettings(own)['archive_command'] ?? '';
    // PostgreSQL replaces %p, %f and %%.
    const run = (path: string) =>
      spawnSync('sh', ['-c', command.replaceAll(/%([pf%])/g, (_, of) => (of === 'p' ? path : of === 'f' ? '01' : '%'))])
        .status;
    expect([run(first), run(first), run(other)]).toEqual([0, 0, 1]);
    expect(readdirSync(own)).toEqual(['01']);
    expect(readFileSync(join(own, '01'), 'utf8')).toBe('one');
  });
});

describe('a slot of the write-ahead log, for which the server keeps the log', () => {
  const SLOT = 'receiver_of_the_test';

  it('is shown by the doctor while nothing receives from it, and when a part of its log is gone', async () => {
    const database = openDatabase(postgres.url);
    const { url } = postgres;
    const look = () => checkDatabase(database, { url, directUrl: url, isPooled: false, poolSize: 1 });
    const answers = { status: 'ok', detail: 'PostgreSQL answers' };
    const unreceived = `PostgreSQL answers, but nothing receives the write-ahead log of its slot ${SLOT}`;
    const dropSlots = () => query('SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots');
    const receiver = new pg.Client({ connectionString: url, replication: 'true' } as pg.ClientConfig);
    try {
      expect(await look()).toEqual(answers);
      await query('SELECT pg_create_physical_replication_slot($1, true)', [SLOT]);
      const advice = expect.stringContaining('Start it again');
      expect(await look()).toEqual({ status: 'warning', detail: unreceived, advice });

      await receiver.connect();
      receiver.on('error', () => undefined);
      const [position] = await query('SELECT restart_lsn::text FROM pg_replication_slots');
      const ended = receiver.query(`START_REPLICATION SLOT ${SLOT} PHYSICAL ${position}`).catch(() => undefined);
      await waitFor('a receiver is content', async () => (await look()).status === 'ok');
      await receiver.end();
      await ended;
      await waitFor('the receiver has left', async () => (await look()).status === 'warning');

      await query("ALTER SYSTEM SET max_slot_wal_keep_size = '1MB'");
      await query('SELECT pg_reload_conf()');
      await waitFor('the server has deleted log that was not received', async () => {
        await endFile();
        await query('CHECKPOINT');
        return (await query('SELECT wal_status FROM pg_replication_slots'))[0] === 'lost';
      });
      const gone = { status: 'warning', detail: `${unreceived}, and a part of it is gone` };
      expect(await look()).toEqual({
        ...gone,
        advice: expect.stringContaining('Start it again, then make a new base backup'),
      });

      await dropSlots();
      expect(await look()).toEqual(answers);
    } finally {
      await dropSlots();
      await query('ALTER SYSTEM RESET max_slot_wal_keep_size');
      await query('SELECT pg_reload_conf()');
      await database.close();
    }
  });
});
