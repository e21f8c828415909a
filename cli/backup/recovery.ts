import { appendFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { postgresQuoted } from '#cli/embedded/wal-archive.ts';

/** How far a restored server goes beyond its backup when it starts. */
export interface Recovery {
  /** Folder with archived files of the write-ahead log; undefined: only what the backup contains. */
  readonly walArchive?: string;
  /** Recover to this time (ISO 8601 with offset); undefined: everything in the archive. */
  readonly until?: string;
}

/**
 * Prepares the first start of a restored server. It always begins a new timeline, so that its log never has the names
 * of files that are in the archive, and the product sees that commits may be lost.
 */
export function prepareRecovery(dataDirectory: string, { walArchive, until }: Recovery): void {
  const settings = {
    // Without an archive nothing is found, and the log in the backup is used.
    restore_command: walArchive === undefined ? 'false' : copyFrom(resolve(walArchive)),
    recovery_target_timeline: 'latest',
    // This setting does not take a `Z`.
    recovery_target_time: until?.replace(/Z$/, '+00') ?? '',
    recovery_target_action: 'promote',
  };
  const lines = Object.entries(settings).map(
    ([name, value]) => `${name} = '${value.replaceAll('\\', String.raw`\\`).replaceAll("'", "''")}'\n`,
  );
  appendFileSync(join(dataDirectory, 'postgresql.auto.conf'), lines.join(''));
  writeFileSync(join(dataDirectory, 'recovery.signal'), '');
}

/**
 * A missing file ends the recovery. With the exit code 126 the server does not start: an archive or a file that is
 * there and cannot be read must not end the recovery, too. `cd` also uses the right to enter all folders that the
 * server may have; `test -x` does not.
 */
function copyFrom(folder: string): string {
  const file = `${postgresQuoted(`${folder}/`)}%f`;
  return `(cd ${postgresQuoted(folder)}) || exit 126; [ -e ${file} ] || exit 1; cp ${file} "%p" || exit 126`;
}
