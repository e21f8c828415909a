import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { asAccount, giveTo, type PostgresAccount } from '#cli/embedded/postgres-account.ts';
import { findPostgresBinaries } from '#cli/embedded/postgres-binaries.ts';
import { shellQuoted } from '#cli/embedded/tool.ts';
import { messageOf, UserError } from '#cli/terminal/user-error.ts';

const run = promisify(execFile);

/** The rights of this server count. */
export interface ArchiveServer {
  readonly account: PostgresAccount | undefined;
  readonly dataDirectory: string;
}

// A `for` over names: their number has no limit.
const OPEN_ALL = 'cd "$1" && for file in *; do if [ -f "$file" ]; then true < "$file" || exit 1; fi; done';

// No file of the log has this name.
const WRITE_ONE = 'file="$1/.write-check.$$" && true > "$file" && rm "$file"';

/**
 * Writes as the server will: a failing archive keeps all of the log, and only the log file tells.
 * @throws UserError when the server cannot write to the folder.
 */
export async function prepareArchive(folder: string, server: ArchiveServer): Promise<void> {
  let first: string | undefined;
  try {
    first = mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new UserError(
      `The folder ${folder} for the archive cannot be made: ${messageOf(error)}.`,
      'Make the folder above it writable for you, or name another folder.',
      { cause: error },
    );
  }
  if (first !== undefined) giveTo(server.account, first);
  const reason = await failureOf(WRITE_ONE, folder, server);
  if (reason === undefined) return;
  throw new UserError(
    `PostgreSQL cannot write to the archive ${folder}: ${reason}.`,
    adviceFor(resolve(folder), server),
  );
}

/** @throws UserError when the server cannot read a file. */
export async function requireReadableArchive(folder: string, server: ArchiveServer): Promise<void> {
  const reason = await failureOf(OPEN_ALL, folder, server);
  if (reason === undefined) return;
  throw new UserError(
    `The server cannot read the archive ${folder}: ${reason}.`,
    `${adviceFor(resolve(folder), server)} Nothing was restored.`,
  );
}

function adviceFor(folder: string, { account }: ArchiveServer): string {
  if (account === undefined) return 'Make the folder and all that is in it accessible for you.';
  const { uid, gid } = account;
  return (
    `PostgreSQL runs as the user with the number ${uid}. Give it the archive (chown -R ${uid}:${gid} ${folder}), and ` +
    'let others enter the folders above (chmod o+x).'
  );
}

async function failureOf(
  script: string,
  folder: string,
  { account, dataDirectory }: ArchiveServer,
): Promise<string | undefined> {
  // Without the package the data is for another server, whose program is elsewhere.
  const binaries = await findPostgresBinaries().catch(() => undefined);
  const paths = binaries === undefined ? [dataDirectory] : [dataDirectory, binaries.postgres];
  const { command, args, ...ids } = asAccount(account, '/bin/sh', ['-c', script, 'sh', resolve(folder)], paths);
  try {
    await run(command, [...args], { ...ids, cwd: '/', env: { PATH: process.env['PATH'], LC_ALL: 'C' } });
    return undefined;
  } catch (error) {
    const { stderr = '' } = error as { readonly stderr?: string };
    const line = stderr.trimEnd().split('\n').at(-1) ?? '';
    return line === '' ? messageOf(error) : line.replace(/^[^:]*sh: (?:(?:line )?\d+: )?/, '');
  }
}

/** At least one file a minute while there are changes. A file gets its name when it is complete and on the disk. */
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

/** PostgreSQL takes a percent sign for a placeholder, so it is doubled. */
export function postgresQuoted(text: string): string {
  return shellQuoted(text).replaceAll('%', '%%');
}
