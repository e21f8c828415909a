import { resolve } from 'node:path';
import { shellQuoted } from '#cli/embedded/tool.ts';

/**
 * Settings of a server that archives its log into a folder: each full file, and at least one a minute while there are
 * changes. A file has its final name only when it is complete and on the disk.
 */
export function archiveSettings(walArchive: string): Readonly<Record<string, string>> {
  const file = `${postgresQuoted(`${resolve(walArchive)}/`)}%f`;
  return {
    archive_mode: 'on',
    archive_timeout: '60s',
    archive_command: [
      `if test -f ${file}; then cmp -s "%p" ${file};`,
      `else cp "%p" ${file}.partial && sync ${file}.partial && mv ${file}.partial ${file}; fi`,
    ].join(' '),
  };
}

/**
 * Quotes a text for a shell command of a PostgreSQL setting. A percent sign would begin a placeholder of PostgreSQL, so
 * it is doubled.
 */
export function postgresQuoted(text: string): string {
  return shellQuoted(text).replaceAll('%', '%%');
}
