import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { sendSignal } from '#cli/embedded/process-identity.ts';

export interface ToolOptions {
  readonly cwd?: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Called for each line of standard output and standard error. */
  readonly onLine?: (line: string) => void;
  /** Kills the tool and its child processes. */
  readonly signal?: AbortSignal;
}

/** A tool could not be started, or ended with another exit code than 0. */
export class ToolError extends Error {
  /** The last lines of its output. */
  readonly output: string;

  constructor(command: string, how: string, output: string) {
    super(`${command} ${how}`);
    this.name = 'ToolError';
    this.output = output;
  }
}

const KEPT_LINES = 30;

/**
 * Runs a tool in a process group of its own and waits for its end.
 *
 * @returns its standard output.
 * @throws ToolError when it fails; the signal's reason when the signal aborted it.
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

/** Runs a program from the PATH or a path. @returns its output; undefined when it is missing or fails. */
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

/** Quotes a text for a POSIX shell, which reads it as one argument. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
