import { execFile } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { BASE_ARCHIVE } from '#cli/backup/base-backup.ts';
import {
  type BackupDescription,
  readDescription,
  TEMPORAL_FILE,
  damaged,
  sha256Of,
  verifyFiles,
} from '#cli/backup/contents.ts';
import { gapAfterBackup, hasLog, prepareRecovery, type Recovery } from '#cli/backup/recovery.ts';
import { isLocked } from '#cli/data-folder/data-folder.ts';
import { loadSecrets } from '#cli/data-folder/development-secrets.ts';
import { giveTo, postgresAccount } from '#cli/embedded/postgres-account.ts';
import { requireReadableArchive } from '#cli/embedded/wal-archive.ts';
import type { Output } from '#cli/terminal/output.ts';
import { removeQuietly, writeFailure, isDiskFull, codeOf, messageOf, UserError } from '#cli/terminal/user-error.ts';
import { readParts } from '#config/config.ts';
import type { Environment } from '#config/environment.ts';
import { KeyRing } from '#crypto/key-ring.ts';
import { describeKeyProblem, judgeKeys } from '#domain/encryption-keys.ts';

const run = promisify(execFile);

export interface RestoreOptions extends Recovery {
  readonly backup: string;
  readonly target: { readonly data: string } | { readonly postgres: string };
}

/**
 * Replaces nothing. @returns {@link EXIT_GAP} when the archive has a gap.
 * @throws UserError when the keys do not fit, a file is damaged, or the place is taken.
 */
export async function restore(
  options: RestoreOptions,
  environment: Environment,
  output: Output = process.stdout,
): Promise<number> {
  const { target, walArchive, until } = options;
  if (until !== undefined && walArchive === undefined) {
    throw new UserError('--until needs --wal-archive.', 'Name the folder with the archived write-ahead log.');
  }
  if (walArchive !== undefined) requireArchive(walArchive);
  const backup = resolve(options.backup);
  const made = readDescription(backup);
  if (until !== undefined) requireReachable(until, made);
  const places = placesOf(target, made);
  requireFree(places);
  requireKeys(made, 'data' in target ? environmentOf(target.data, environment) : environment);
  if (places.temporal !== undefined) await requireTemporalFile(backup, made);
  if (walArchive !== undefined) {
    const server = { account: postgresAccount(places.postgres), dataDirectory: places.postgres };
    await requireReadableArchive(walArchive, server);
  }
  await restoreFiles(backup, places, options);
  const gap = walArchive === undefined ? undefined : gapAfterBackup(places.postgres, walArchive);
  const later = walArchive === undefined ? '' : ', and recovers later changes from the archive when the server starts';
  const temporal = places.temporal === undefined ? '' : `${places.temporal} is Temporal’s file.\n`;
  output.write(
    `${places.postgres} has the data of ${made.endedAt}${later}.\n` +
      temporal +
      (gap === undefined
        ? ''
        : `The archive has no files between ${gap.before} and ${gap.after}: ${LOST_AFTER_GAP}\n`) +
      'Next: docs/runbook.md, "PostgreSQL or Temporal was restored".\n',
  );
  return gap === undefined ? 0 : EXIT_GAP;
}

const EXIT_GAP = 3;
const LOST_AFTER_GAP = 'the server recovers no change after the gap. Find the missing files, and restore again.';

/** PostgreSQL would not start with such a time. */
function requireReachable(until: string, { endedAt }: BackupDescription): void {
  if (Date.parse(until) >= Date.parse(endedAt) && Date.parse(until) <= Date.now()) return;
  throw new UserError(
    `--until ${until} is not between the end of this backup (${endedAt}) and now.`,
    'For an earlier time use an earlier backup. Without --until everything in the archive is recovered.',
  );
}

async function requireTemporalFile(backup: string, { temporalSha256 }: BackupDescription): Promise<void> {
  const sum = await sha256Of(join(backup, TEMPORAL_FILE));
  if (sum === undefined || sum !== temporalSha256) throw damaged(backup, TEMPORAL_FILE);
}

function requireArchive(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new UserError(`${folder} is no folder.`, 'Name the folder with the archived write-ahead log.');
  }
  if (hasLog(folder)) return;
  throw new UserError(
    `${folder} has no files of the write-ahead log.`,
    'Name the folder with the archived log. Without --wal-archive only the data of the backup is restored.',
  );
}

interface Places {
  readonly postgres: string;
  readonly temporal?: string;
}

function placesOf(target: RestoreOptions['target'], { hasTemporalFile }: BackupDescription): Places {
  if (!('data' in target)) return { postgres: resolve(target.postgres) };
  const data = resolve(target.data);
  if (isLocked(data)) throw new UserError(`\`npm start\` runs on ${data}.`, 'Stop it first with Ctrl-C.');
  const postgres = join(data, 'postgres');
  return hasTemporalFile ? { postgres, temporal: join(data, 'temporal.db') } : { postgres };
}

/** Moved alone, the first file would lack the newest changes. */
const SQLITE_ENDINGS = ['', '-wal', '-shm'];

function requireFree({ postgres, temporal }: Places): void {
  const isTaken = existsSync(postgres) && !isEmptyFolder(postgres);
  const files = (temporal === undefined ? [] : SQLITE_ENDINGS)
    .map((ending) => ({ from: `${temporal}${ending}`, to: `${temporal}.old${ending}` }))
    .filter(({ from }) => existsSync(from));
  const moves = [...(isTaken ? [{ from: postgres, to: `${postgres}.old` }] : []), ...files];
  if (moves.length === 0) return;
  const [what, them] = moves.length === 1 ? ['exists', 'it'] : ['exist', 'them'];
  throw new UserError(
    `${moves.map(({ from }) => from).join(', ')} ${what}. A restore replaces nothing.`,
    `Stop the server and move ${them} away (${moves.map(({ from, to }) => `mv ${from} ${to}`).join(' && ')}).` +
      (isTaken ? ` Keep ${postgres}.old: its pg_wal may have the newest changes.` : ''),
  );
}

function isEmptyFolder(path: string): boolean {
  try {
    return readdirSync(path).length === 0;
  } catch {
    return false;
  }
}

/** `secrets.json` has the keys and the password that the restored server expects. */
function environmentOf(data: string, environment: Environment): Environment {
  const file = join(resolve(data), 'secrets.json');
  if (!existsSync(file)) {
    throw new UserError(
      `${file} is missing. Without it the restored data cannot be read.`,
      'Put the copy that you keep apart from the backups there.',
    );
  }
  return { ENCRYPTION_KEYS: loadSecrets(resolve(data)).encryption_keys, ...environment };
}

function requireKeys(made: BackupDescription, environment: Environment): void {
  const ring = new KeyRing(readParts(['encryptionKeys'], environment).encryptionKeys);
  const recorded = made.encryptionKeys.map(({ keyId, checkValue, makesHashes }) => ({
    keyId,
    makesHashes,
    sameBytes: ring.checkValueOf(keyId)?.equals(Buffer.from(checkValue, 'base64')),
  }));
  const problems = judgeKeys(recorded, ring.keyIds).map(describeKeyProblem);
  if (problems.length === 0) return;
  throw new UserError(
    `The encryption keys do not fit this backup. ${problems.map(({ what }) => what).join(' ')}`,
    'Set ENCRYPTION_KEYS to the keys of that time and all added since, the newest in front. Nothing was restored.',
  );
}

/** Restores all of it, or nothing. */
async function restoreFiles(backup: string, { postgres, temporal }: Places, recovery: Recovery): Promise<void> {
  const copy = temporal === undefined ? undefined : { partial: `${temporal}.partial`, complete: temporal };
  try {
    if (copy !== undefined) copyFileSync(join(backup, TEMPORAL_FILE), copy.partial);
    await restorePostgres(backup, postgres, recovery);
    if (copy !== undefined) renameSync(copy.partial, copy.complete);
  } catch (error) {
    if (copy !== undefined) removeQuietly(copy.partial);
    throw writeFailure(error, postgres);
  }
}

async function restorePostgres(backup: string, place: string, recovery: Recovery): Promise<void> {
  const partial = `${place}.partial`;
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial, { recursive: true, mode: 0o700 });
  try {
    await unpack(backup, partial);
    await verifyFiles(backup, partial);
    prepareRecovery(partial, recovery);
    chmodSync(partial, 0o700);
    giveTo(postgresAccount(place), partial);
    rmSync(place, { recursive: true, force: true });
    renameSync(partial, place);
  } catch (error) {
    removeQuietly(partial);
    throw error;
  }
}

async function unpack(backup: string, place: string): Promise<void> {
  const archive = join(backup, BASE_ARCHIVE);
  // The messages must be in English. tar may name each of many files.
  const options = { env: { ...process.env, LC_ALL: 'C' }, maxBuffer: 2 ** 28 };
  try {
    await run('tar', ['-xf', archive, '-C', place], options);
  } catch (error) {
    if (isDiskFull(error)) throw error;
    if (codeOf(error) === 'ENOENT') throw new UserError('There is no program tar.', 'Install it.', { cause: error });
    const isReadable = await run('tar', ['-tf', archive], options).then(
      () => true,
      () => false,
    );
    if (!isReadable) throw damaged(backup, BASE_ARCHIVE);
    const lastLine = messageOf(error).trimEnd().split('\n').at(-1) ?? '';
    const message = `The backup cannot be unpacked into ${place}: ${lastLine}`;
    throw new UserError(message, 'Remove the cause and repeat the command.', { cause: error });
  }
}
