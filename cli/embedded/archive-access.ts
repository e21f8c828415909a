import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { asAccount, type PostgresAccount } from '#cli/embedded/postgres-account.ts';
import { findPostgresBinaries } from '#cli/embedded/postgres-binaries.ts';
import { messageOf, UserError } from '#cli/terminal/user-error.ts';

const run = promisify(execFile);

/** The server whose rights count. */
export interface ArchiveServer {
  readonly account: PostgresAccount | undefined;
  readonly dataDirectory: string;
}

// A `for` over names, so that their number has no limit.
const OPEN_ALL = 'cd "$1" && for file in *; do if [ -f "$file" ]; then true < "$file" || exit 1; fi; done';

/** Opens each file of an archive as the server will. @throws UserError when the server cannot read one. */
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

/** Runs a script with the rights of the server. @returns the reason of its failure; undefined: it succeeded. */
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
