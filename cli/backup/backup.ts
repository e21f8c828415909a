import { chmodSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { backup as copyDatabase, DatabaseSync } from 'node:sqlite';
import { writeBaseBackup } from '#cli/backup/base-backup.ts';
import { type BackupDescription, DESCRIPTION, TEMPORAL_FILE, sha256Of } from '#cli/backup/contents.ts';
import { writeSecretFile } from '#cli/data-folder/development-secrets.ts';
import { withClient } from '#cli/embedded/postgres.ts';
import type { Output } from '#cli/terminal/output.ts';
import { removeQuietly, writeFailure, isDiskFull, messageOf, UserError } from '#cli/terminal/user-error.ts';
import { readParts } from '#config/config.ts';
import type { Environment } from '#config/environment.ts';

/**
 * A base backup of PostgreSQL, and a copy of Temporal's file. The folder has its name only when it is complete.
 * Without `temporalFile`, Temporal uses PostgreSQL or is backed up elsewhere.
 */
export async function backUp(
  { folder, temporalFile }: { readonly folder: string; readonly temporalFile?: string },
  environment: Environment,
  output: Output = process.stdout,
): Promise<string> {
  const url = readParts(['database'], environment).database.directUrl;
  const startedAt = new Date();
  const complete = join(resolve(folder), `backup-${startedAt.toISOString().replaceAll(/[:.]/g, '-')}`);
  const partial = `${complete}.partial`;
  try {
    mkdirSync(partial, { recursive: true, mode: 0o700 });
    // Before PostgreSQL: workflows older than the rows are repaired from them; rows are not repaired.
    if (temporalFile !== undefined) await copyTemporal(temporalFile, join(partial, TEMPORAL_FILE));
    const files = await writeBaseBackup(url, partial);
    const description: BackupDescription = {
      format: 2,
      startedAt: startedAt.toISOString(),
      ...(await describeServer(url)),
      ...files,
      hasTemporalFile: temporalFile !== undefined,
      ...(temporalFile !== undefined && { temporalSha256: await sha256Of(join(partial, TEMPORAL_FILE)) }),
      endedAt: new Date().toISOString(),
    };
    writeSecretFile(join(partial, DESCRIPTION), `${JSON.stringify(description, undefined, 2)}\n`);
    renameSync(partial, complete);
    output.write(summary(complete, description));
    return complete;
  } catch (error) {
    removeQuietly(partial);
    throw writeFailure(error, folder);
  }
}

/** One read transaction. In small steps, each commit of the server would begin the copy anew. */
const ALL_PAGES = 2 ** 30;

async function copyTemporal(file: string, copy: string): Promise<void> {
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) {
    throw new UserError(`Temporal has no database file ${file}.`, 'Name its file with --temporal-file.');
  }
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { readOnly: true });
    await copyDatabase(database, copy, { rate: ALL_PAGES });
    chmodSync(copy, 0o600);
  } catch (error) {
    if (isDiskFull(error)) throw error;
    throw new UserError(
      `Temporal’s database file ${file} cannot be copied: ${messageOf(error)}.`,
      'Name the file of a Temporal development server with --temporal-file.',
      { cause: error },
    );
  } finally {
    database?.close();
  }
}

async function describeServer(url: string) {
  return withClient(url, async (client) => {
    const version = await client.query<{ server_version: string }>('SHOW server_version');
    const databases = await client.query<{ name: string }>(
      'SELECT datname AS name FROM pg_database WHERE NOT datistemplate ORDER BY datname',
    );
    const keys = await client.query<{ keyId: string; checkValue: string; makesHashes: boolean }>(
      `SELECT key_id AS "keyId", translate(encode(check_value, 'base64'), E'\\n', '') AS "checkValue",
         makes_hashes AS "makesHashes" FROM encryption_keys ORDER BY first_used_at, key_id`,
    );
    return {
      serverVersion: version.rows[0]?.server_version ?? '',
      databases: databases.rows.map(({ name }) => name),
      encryptionKeys: keys.rows,
    };
  });
}

function summary(folder: string, made: BackupDescription): string {
  const seconds = (Date.parse(made.endedAt) - Date.parse(made.startedAt)) / 1_000;
  const temporal = made.hasTemporalFile ? 'its database file' : 'no file; included if its databases are listed above';
  const keys = made.encryptionKeys.map(({ keyId }) => keyId).join(', ') || 'none';
  return (
    `${folder}\n` +
    `  PostgreSQL ${made.serverVersion}: ${made.databases.join(', ')}; ${(made.bytes / 1e6).toFixed(0)} MB in ` +
    `${seconds.toFixed(1)} s\n` +
    `  Temporal: ${temporal}\n` +
    `  Not included: the encryption keys. It needs ${keys}. Keep them elsewhere: without them it is worthless, and\n` +
    '  a person who has both can read everything.\n'
  );
}
