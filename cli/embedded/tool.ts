import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { sendSignal } from '#cli/embedded/process-identity.ts';

export interface ToolOptions {
  readonly cwd?: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Each line that it prints, from either stream. */
  readonly onLine?: (line: string) => void;
  /** Ends the tool and all it started. */
  readonly signal?: AbortSignal;
}

/** A tool ended with something other than exit code 0. */
export class ToolError extends Error {
  /** The end of what it printed. */
  readonly output: string;

  constructor(command: string, how: string, output: string) {
    super(`${command} ${how}`);
    this.name = 'ToolError';
    this.output = output;
  }
}

const KEPT_LINES = 30;

/**
 * Runs a tool to its end in a process group of its own.
 *
 * @returns what it printed to standard output.
 * @throws ToolError when it fails; the signal's reason when it was ended by us.
 */
export async function runTool(command: string, args: readonly string[], options: ToolOptions): Promise<string> {
  options.signal?.throwIfAborted();
  const child = spawn(command, args, {
    env: { ...options.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
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

/** Is there a program of this name on the PATH (or at this path) that answers `args`? */
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
