import { execFileSync } from 'node:child_process';
import { accessSync, chownSync, constants, existsSync, lchownSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { UserError } from '#cli/terminal/user-error.ts';

/** PostgreSQL refuses to run as root. */
export interface PostgresAccount {
  readonly uid: number;
  readonly gid: number;
}

export interface AccountCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly uid?: number;
  readonly gid?: number;
}

// `nobody` exists on every Linux, `postgres` where PostgreSQL was installed. No account is created.
const ACCOUNTS = ['postgres', 'nobody'];

/** An existing cluster keeps its account. Undefined: we are not root. */
export function postgresAccount(dataDirectory: string): PostgresAccount | undefined {
  if (process.getuid?.() !== 0) return undefined;
  if (existsSync(`${dataDirectory}/PG_VERSION`)) {
    const { uid, gid } = statSync(dataDirectory);
    return { uid, gid };
  }
  for (const name of ACCOUNTS) {
    const entry = readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .find((line) => line.startsWith(`${name}:`));
    const [, , uid, gid] = entry?.split(':') ?? [];
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new UserError(
    'PostgreSQL does not run as root, and this machine has no user "postgres" or "nobody".',
    'Start it as an ordinary user, or set DATABASE_URL to a running PostgreSQL.',
  );
}

/**
 * Gives the account the capability to enter folders above (a checkout under /root).
 * @throws UserError when it cannot reach them and the system has no `setpriv`.
 */
export function asAccount(
  account: PostgresAccount | undefined,
  program: string,
  args: readonly string[],
  paths: readonly string[],
): AccountCommand {
  if (account === undefined) return { command: program, args };
  const closed = [program, ...paths].map((path) => closedFolderAbove(path, account)).find((path) => path !== undefined);
  if (closed === undefined) return { command: program, args, ...account };
  if (!hasSetpriv()) {
    throw new UserError(
      `PostgreSQL does not run as root, and the user it would run as (uid ${account.uid}) cannot enter ${closed}.`,
      'Put the project into a folder that other users may enter (for example under /srv), or start it as an ' +
        'ordinary user, or set DATABASE_URL.',
    );
  }
  const ids = [`--reuid=${account.uid}`, `--regid=${account.gid}`, '--clear-groups'];
  const rights = ['--inh-caps=+dac_read_search', '--ambient-caps=+dac_read_search'];
  return { command: 'setpriv', args: [...ids, ...rights, program, ...args] };
}

export function giveTo(account: PostgresAccount | undefined, folder: string): void {
  if (account === undefined) return;
  chownSync(folder, account.uid, account.gid);
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    lchownSync(join(folder, path), account.uid, account.gid);
  }
}

function closedFolderAbove(path: string, account: PostgresAccount): string | undefined {
  for (let folder = dirname(resolve(path)); ; folder = dirname(folder)) {
    if (!mayPass(folder, account)) return folder;
    if (folder === dirname(folder)) return undefined;
  }
}

function mayPass(folder: string, account: PostgresAccount): boolean {
  if (!existsSync(folder)) return true;
  const { mode, uid, gid } = statSync(folder);
  const bit = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001;
  return (mode & bit) !== 0;
}

function hasSetpriv(): boolean {
  try {
    accessSync(execFileSync('which', ['setpriv'], { encoding: 'utf8' }).trim(), constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
