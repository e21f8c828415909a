import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheDirectory } from '#cli/embedded/cache.ts';

const REQUIREMENTS = join(import.meta.dirname, 'requirements.txt');

/**
 * Installs schemathesis with pinned versions into a virtual environment in the user's cache, if it is not there yet.
 *
 * @returns path of its program.
 * @throws Error if there is no Python, or the packages cannot be downloaded.
 */
export function installSchemathesis(): string {
  const version = createHash('sha256').update(readFileSync(REQUIREMENTS)).digest('hex').slice(0, 12);
  const folder = join(cacheDirectory(process.env), `schemathesis-${version}`);
  const marker = join(folder, 'complete');
  const program = join(folder, 'bin', 'st');
  if (existsSync(marker) && existsSync(program)) return program;
  process.stdout.write(`schemathesis is installed into ${folder}\n`);
  rmSync(folder, { recursive: true, force: true });
  run('python3', ['-m', 'venv', folder]);
  run(join(folder, 'bin', 'pip'), ['install', '--quiet', '--disable-pip-version-check', '--requirement', REQUIREMENTS]);
  // The last step, so that an interrupted installation is repeated.
  writeFileSync(marker, '');
  return program;
}

function run(command: string, args: readonly string[]): void {
  const { status, error } = spawnSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  if (error !== undefined) throw new Error(`${command} could not be started: ${error.message}`);
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}`);
}
