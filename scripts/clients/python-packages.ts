import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheDirectory } from '#cli/embedded/tool.ts';

/** Into a virtual environment in the user's cache. @throws Error without Python, or when a download fails. */
export function installPythonPackages(name: string, requirements: string): string {
  const version = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 12);
  const folder = join(cacheDirectory(process.env), `${name}-${version}`);
  const marker = join(folder, 'complete');
  const programs = join(folder, 'bin');
  if (existsSync(marker)) return programs;
  process.stdout.write(`${name} is installed into ${folder}\n`);
  rmSync(folder, { recursive: true, force: true });
  run('python3', ['-m', 'venv', folder]);
  run(join(programs, 'pip'), ['install', '--quiet', '--disable-pip-version-check', '--requirement', requirements]);
  // Last, so that an interrupted installation is repeated.
  writeFileSync(marker, '');
  return programs;
}

function run(command: string, args: readonly string[]): void {
  const { status, error } = spawnSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  if (error !== undefined) throw new Error(`${command} could not be started: ${error.message}`);
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}`);
}
