import { appendFileSync, writeFileSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { postgresQuoted } from '#cli/embedded/wal-archive.ts';

export interface Recovery {
  /** Undefined: only what the backup contains. */
  readonly walArchive?: string;
  /** ISO 8601 with offset; undefined: everything in the archive. */
  readonly until?: string;
}

/**
 * It begins a new timeline: its log never has names of archived files, and the product sees that commits may be lost.
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
 * A missing file ends the recovery. An unreadable one must not: the exit code 126 keeps the server from starting. `cd`
 * also uses the server's right to enter all folders; `test -x` does not.
 */
function copyFrom(folder: string): string {
  const file = `${postgresQuoted(`${folder}/`)}%f`;
  return `(cd ${postgresQuoted(folder)}) || exit 126; [ -e ${file} ] || exit 1; cp ${file} "%p" || exit 126`;
}

export interface ArchiveGap {
  readonly before: string;
  readonly after: string;
}

const SEGMENT = /^[0-9A-F]{24}$/;

/** A recovery ends at the first gap, and PostgreSQL reports no error. */
export function gapAmong(names: readonly string[]): ArchiveGap | undefined {
  const sorted = segmentsAmong(names).toSorted();
  for (const [index, after] of sorted.entries()) {
    const before = sorted[index - 1];
    if (before !== undefined && isGap(before, after)) return { before, after };
  }
  return undefined;
}

export function hasLog(folder: string): boolean {
  return segmentsAmong(readdirSync(folder)).length > 0;
}

function segmentsAmong(names: readonly string[]): string[] {
  return [...new Set(names.map((name) => name.replace(/\.partial$/, '')))].filter((name) => SEGMENT.test(name));
}

/** Looks at the restored server's own log and the archive since the backup. */
export function gapAfterBackup(dataDirectory: string, walArchive: string): ArchiveGap | undefined {
  const label = readFileSync(join(dataDirectory, 'backup_label'), 'utf8');
  const first = /^START WAL LOCATION: .* \(file ([0-9A-F]{24})\)$/m.exec(label)?.[1] ?? '';
  const archived = readdirSync(walArchive).filter((name) => name >= first);
  return gapAmong([...readdirSync(join(dataDirectory, 'pg_wal')), ...archived]);
}

/** The number of files in each 4 GB of log depends on their size. */
function isGap(before: string, after: string): boolean {
  const [timeline, log, number] = partsOf(before);
  const [nextTimeline, nextLog, nextNumber] = partsOf(after);
  const follows = nextLog === log ? nextNumber === number + 1 : nextLog === log + 1 && nextNumber === 0;
  return timeline === nextTimeline && !follows;
}

function partsOf(name: string): [timeline: string, log: number, number: number] {
  return [name.slice(0, 8), Number.parseInt(name.slice(8, 16), 16), Number.parseInt(name.slice(16), 16)];
}
