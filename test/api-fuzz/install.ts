import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheDirectory } from '#cli/embedded/cache.ts';

const REQUIREMENTS = join(import.meta.dirname, 'requirements.txt');

/**
 * Installs schemathesis with pinned versions into a virtual environment of its own in the user's cache; once.
 *
 * @returns path of its program.
 * @throws Error when there is no Python, or the packages cannot be had.
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
  // Last, and at once: an installation that was cut off is begun anew.
  writeFileSync(marker, '');
  return program;
}

function run(command: string, args: readonly string[]): void {
  const { status, error } = spawnSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  if (error !== undefined) throw new Error(`${command} could not be started: ${error.message}`);
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}`);
}
