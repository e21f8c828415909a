import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Two neighbours among the files of the log between which files are missing. */
export interface ArchiveGap {
  readonly before: string;
  readonly after: string;
}

const SEGMENT = /^[0-9A-F]{24}$/;

/**
 * Finds the first gap among files of the write-ahead log. A recovery ends there, and PostgreSQL reports no error.
 *
 * @param names of files; those that are no files of the log are ignored.
 */
export function gapAmong(names: readonly string[]): ArchiveGap | undefined {
  const sorted = segmentsAmong(names).toSorted();
  for (const [index, after] of sorted.entries()) {
    const before = sorted[index - 1];
    if (before !== undefined && timelineOf(before) === timelineOf(after) && !follows(before, after))
      return { before, after };
  }
  return undefined;
}

/** Whether a folder has files of the write-ahead log. */
export function hasLog(folder: string): boolean {
  return segmentsAmong(readdirSync(folder)).length > 0;
}

/** The files of the log among these names, each once; one that is not complete ends with `.partial`. */
function segmentsAmong(names: readonly string[]): string[] {
  return [...new Set(names.map((name) => name.replace(/\.partial$/, '')))].filter((name) => SEGMENT.test(name));
}

/** The first gap in what a restored server will read: its own log, and the archive since the backup. */
export function gapAfterBackup(dataDirectory: string, walArchive: string): ArchiveGap | undefined {
  const label = readFileSync(join(dataDirectory, 'backup_label'), 'utf8');
  const first = /^START WAL LOCATION: .* \(file ([0-9A-F]{24})\)$/m.exec(label)?.[1] ?? '';
  const archived = readdirSync(walArchive).filter((name) => name >= first);
  return gapAmong([...readdirSync(join(dataDirectory, 'pg_wal')), ...archived]);
}

function timelineOf(name: string): string {
  return name.slice(0, 8);
}

/** The next file, or the first one of the next 4 GB: the number of files in these depends on their size. */
function follows(before: string, after: string): boolean {
  const [log, number] = numbersOf(before);
  const [nextLog, nextNumber] = numbersOf(after);
  return nextLog === log ? nextNumber === number + 1 : nextLog === log + 1 && nextNumber === 0;
}

function numbersOf(name: string): [log: number, number: number] {
  return [Number.parseInt(name.slice(8, 16), 16), Number.parseInt(name.slice(16), 16)];
}
