import { execFile } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PROJECT } from '#bench/support/children.ts';
import { messageOf, UserError } from '#cli/terminal/user-error.ts';

/** The peers on other engines are a package of their own: only the benchmark needs what they need. */
const PACKAGE = join(PROJECT, 'bench/peers/engines');

const run = promisify(execFile);

/** Installs the peers' packages on first use. @throws UserError when that fails. */
export async function installEngines(say: (text: string) => void): Promise<void> {
  const installed = join(PACKAGE, 'node_modules/.package-lock.json');
  const lock = join(PACKAGE, 'package-lock.json');
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return;
  say('peers: their packages are installed once, with npm ci in bench/peers/engines');
  try {
    await run('npm', ['ci'], { cwd: PACKAGE });
  } catch (error) {
    throw new UserError(
      `The packages of the peers could not be installed: ${messageOf(error)}`,
      'Run `npm ci` in bench/peers/engines, or leave these scenarios out with --only.',
    );
  }
}

/** Path of Restate's server. @throws UserError when there is none for this platform. */
export function restateServer(): string {
  const name = `@restatedev/restate-server-${process.platform}-${process.arch}`;
  try {
    return createRequire(join(PACKAGE, 'package.json')).resolve(`${name}/bin/restate-server`);
  } catch (error) {
    throw new UserError(
      `The server of Restate is not installed: ${name}.`,
      'It exists for Linux and macOS. Leave these scenarios out with --only.',
      { cause: error },
    );
  }
}
