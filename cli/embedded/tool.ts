import { spawn } from 'node:child_process';
import { readFileSync, mkdirSync, renameSync, rmSync, statfsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, dirname } from 'node:path';
import { createInterface } from 'node:readline';
import * as z from 'zod';
import { sendSignal } from '#cli/embedded/child.ts';
import { UserError } from '#cli/terminal/user-error.ts';
import type { Environment } from '#config/environment.ts';

export interface ToolOptions {
  readonly cwd?: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly onLine?: (line: string) => void;
  readonly signal?: AbortSignal;
}

export class ToolError extends Error {
  readonly output: string;

  constructor(command: string, how: string, output: string) {
    super(`${command} ${how}`);
    this.name = 'ToolError';
    this.output = output;
  }
}

const KEPT_LINES = 30;

/** @throws ToolError when it fails; the signal's reason when the signal aborted it. */
export async function runTool(command: string, args: readonly string[], options: ToolOptions): Promise<string> {
  options.signal?.throwIfAborted();
  const child = spawn(command, args, {
    env: { ...options.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    cwd: options.cwd,
  });
  const end = () => child.pid !== undefined && sendSignal(-child.pid, 'SIGKILL');
  options.signal?.addEventListener('abort', end);
  process.once('exit', end);

  const printed: string[] = [];
  const last: string[] = [];
  const take = (line: string) => {
    last.push(line);
    if (last.length > KEPT_LINES) last.shift();
    options.onLine?.(line);
  };
  createInterface(child.stdout).on('line', (line) => {
    printed.push(line);
    take(line);
  });
  createInterface(child.stderr).on('line', take);
  try {
    const how = await new Promise<string | undefined>((resolve) => {
      child.once('error', (error) => resolve(`could not be started: ${error.message}`));
      child.once('close', (code, signal) => resolve(code === 0 ? undefined : `ended with ${signal ?? `code ${code}`}`));
    });
    options.signal?.throwIfAborted();
    if (how !== undefined) throw new ToolError(command, how, last.join('\n'));
    return printed.join('\n');
  } finally {
    options.signal?.removeEventListener('abort', end);
    process.removeListener('exit', end);
  }
}

export async function toolAnswers(
  command: string,
  args: readonly string[],
  environment: ToolOptions['environment'],
): Promise<string | undefined> {
  try {
    return await runTool(command, args, { environment });
  } catch {
    return undefined;
  }
}

/** For a POSIX shell. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** All checkouts of one user share it. */
export function cacheDirectory(environment: Environment): string {
  const base = environment['XDG_CACHE_HOME'] || join(environment['HOME'] || homedir(), '.cache');
  return join(base, 'reseller-fulfilment');
}

const FILE = new URL('../../ops/versions.json', import.meta.url);
const version = z.string().regex(/^\d+\.\d+(\.\d+)?$/);

/** Compose names the same versions. */
export const SERVER_VERSIONS = z
  .strictObject({ temporal_server: version, temporal_ui: version, temporal_cli: version, postgres: version })
  .parse(JSON.parse(readFileSync(FILE, 'utf8')));

export interface GoBuildOptions {
  /** Its `go.mod` pins the program and its dependencies. */
  readonly module: string;
  readonly program: string;
  readonly target: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly progress: (text: string) => void;
  readonly signal?: AbortSignal;
}

// The first version that downloads the toolchain of `go.mod`. Older ones fail with an unclear error.
const OLDEST_GO = [1, 21] as const;
/** Measured for sources, build cache and program. */
export const BUILD_DISK_GB = 4;

/** @returns a clause; undefined when Go can build here. */
export async function goProblem(environment: GoBuildOptions['environment']): Promise<string | undefined> {
  const answer = await toolAnswers('go', ['env', 'GOVERSION'], environment);
  if (answer === undefined) return 'Go is not installed';
  const [, major, minor] = /^go(\d+)\.(\d+)/.exec(answer) ?? [];
  if (major === undefined || minor === undefined) return `Go has an unknown version (${answer})`;
  const old = Number(major) < OLDEST_GO[0] || (Number(major) === OLDEST_GO[0] && Number(minor) < OLDEST_GO[1]);
  return old ? `Go is too old (${answer.trim()}; 1.25 or later is needed)` : undefined;
}

export async function buildWithGo(options: GoBuildOptions): Promise<void> {
  mkdirSync(dirname(options.target), { recursive: true });
  const { bavail, bsize } = statfsSync(dirname(options.target));
  if (bavail * bsize < BUILD_DISK_GB * 1024 ** 3) {
    throw new UserError(
      `Building the Temporal server needs about ${BUILD_DISK_GB} GB of disk, and ` +
        `${Math.floor((bavail * bsize) / 1024 ** 2)} MB are free.`,
      `Free some space on the disk of ${dirname(options.target)} and start again.`,
    );
  }
  const partial = `${options.target}.${process.pid}.partial`;
  // An older Go then downloads the toolchain required by go.mod.
  const environment = { ...options.environment, CGO_ENABLED: '0', GOTOOLCHAIN: 'auto' };
  const common = { cwd: options.module, environment, ...(options.signal && { signal: options.signal }) };
  try {
    let fetched = 0;
    options.progress('fetching the sources');
    await runTool('go', ['mod', 'download', '-x'], {
      ...common,
      onLine: (line) => {
        if (/\.zip: 200/.test(line)) options.progress(`fetched ${(fetched += 1)} modules`);
      },
    });
    const packages = await runTool('go', ['list', '-deps', options.program], common);
    const total = packages.split('\n').length;
    let compiled = 0;
    await runTool('go', ['build', '-v', '-trimpath', '-ldflags=-s -w', '-o', partial, options.program], {
      ...common,
      onLine: () => options.progress(`compiled ${(compiled += 1)} of at most ${total} packages`),
    });
    renameSync(partial, options.target);
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    throw new UserError(
      `The Temporal server could not be built: ${error.message}.\n${error.output}`,
      'Check that the Go module proxy can be reached. Or install the Temporal CLI: put `temporal` on the PATH, or ' +
        'set TEMPORAL_CLI_PATH to it.',
    );
  } finally {
    rmSync(partial, { force: true });
  }
}
