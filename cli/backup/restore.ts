import { execFile } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { BASE_ARCHIVE } from '#cli/backup/base-backup.ts';
import { type BackupDescription, readDescription, TEMPORAL_FILE } from '#cli/backup/description.ts';
import { verifyFiles } from '#cli/backup/manifest.ts';
import { prepareRecovery, type Recovery } from '#cli/backup/recovery.ts';
import { isLocked } from '#cli/data-folder/data-folder-lock.ts';
import { loadSecrets } from '#cli/data-folder/development-secrets.ts';
import { giveTo, postgresAccount } from '#cli/embedded/postgres-account.ts';
import type { Output } from '#cli/terminal/output.ts';
import { UserError } from '#cli/terminal/user-error.ts';
import { readEncryptionKeys } from '#config/config.ts';
import type { Environment } from '#config/environment.ts';
import { KeyRing } from '#crypto/key-ring.ts';
import { describeKeyProblem, judgeKeys } from '#domain/encryption-keys.ts';

const run = promisify(execFile);

export interface RestoreOptions extends Recovery {
  /** Folder of the backup. */
  readonly backup: string;
  /** Data folder of an `npm start` that does not run, or only the data folder of a PostgreSQL server. */
  readonly target: { readonly data: string } | { readonly postgres: string };
}

/**
 * `reseller restore`: puts a backup into an empty place. Replaces nothing.
 *
 * @throws UserError when the keys do not fit, a file is damaged, or the place is taken.
 */
export async function restore(
  options: RestoreOptions,
  environment: Environment,
  output: Output = process.stdout,
): Promise<void> {
  const { target, walArchive, until } = options;
  if (until !== undefined && walArchive === undefined) {
    throw new UserError('--until needs --wal-archive.', 'Name the folder with the archived write-ahead log.');
  }
  const backup = resolve(options.backup);
  const made = readDescription(backup);
  const places = placesOf(target, made);
  for (const place of Object.values(places)) requireFree(place);
  requireKeys(made, 'data' in target ? environmentOf(target.data, environment) : environment);
  await restorePostgres(backup, places.postgres, options);
  if (places.temporal !== undefined) copyFileSync(join(backup, TEMPORAL_FILE), places.temporal);
  const later = walArchive === undefined ? '' : ', and recovers later changes from the archive when the server starts';
  const temporal = places.temporal === undefined ? '' : `${places.temporal} is Temporal’s file.\n`;
  output.write(
    `${places.postgres} has the data of ${made.endedAt}${later}.\n` +
      temporal +
      'Next: docs/runbook.md, "PostgreSQL or Temporal was restored".\n',
  );
}

function placesOf(
  target: RestoreOptions['target'],
  { hasTemporalFile }: BackupDescription,
): { readonly postgres: string; readonly temporal?: string } {
  if (!('data' in target)) return { postgres: resolve(target.postgres) };
  const data = resolve(target.data);
  if (isLocked(data)) throw new UserError(`\`npm start\` runs on ${data}.`, 'Stop it first with Ctrl-C.');
  const postgres = join(data, 'postgres');
  return hasTemporalFile ? { postgres, temporal: join(data, 'temporal.db') } : { postgres };
}

function requireFree(place: string): void {
  const isTaken = [place, `${place}-wal`, `${place}-shm`].some(
    (path) => existsSync(path) && !(path === place && isEmptyFolder(path)),
  );
  if (!isTaken) return;
  throw new UserError(
    `${place} exists. A restore replaces nothing.`,
    `Stop the server and move it away (mv ${place} ${place}.old). Keep it: its pg_wal may have the newest changes.`,
  );
}

function isEmptyFolder(path: string): boolean {
  try {
    return readdirSync(path).length === 0;
  } catch {
    return false;
  }
}

/** `secrets.json` has the keys, and the password that the restored server expects. */
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
  const ring = new KeyRing(readEncryptionKeys(environment));
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

async function restorePostgres(backup: string, place: string, recovery: Recovery): Promise<void> {
  const partial = `${place}.partial`;
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial, { recursive: true, mode: 0o700 });
  try {
    await run('tar', ['-xf', join(backup, BASE_ARCHIVE), '-C', partial]);
    await verifyFiles(backup, partial);
    prepareRecovery(partial, recovery);
    chmodSync(partial, 0o700);
    giveTo(postgresAccount(place), partial);
    rmSync(place, { recursive: true, force: true });
    renameSync(partial, place);
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    throw error;
  }
}
