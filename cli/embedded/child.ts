import { type SpawnOptions, spawn, execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { codeOf, messageOf, UserError } from '#cli/terminal/user-error.ts';

export interface ChildOptions {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** A pipe would break if the child outlived us. */
  readonly logFile: string;
  readonly uid?: number;
  readonly gid?: number;
}

export interface ReadyOptions {
  readonly timeoutMs: number;
  readonly pollMs: number;
  /** Throws while the server does not answer. */
  readonly answers: () => Promise<void>;
  /** How a message begins; default: the name of the child. */
  readonly what?: string;
  /** Default: a UserError with the end of the log. */
  readonly failure?: (state: string) => Error;
  /** Said of a server that is not ready in time. */
  readonly late?: string;
}

export interface ChildExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly error?: Error;
}

// A larger log is renamed to `.1` when its process is started again.
const LOG_ROTATE_BYTES = 10 * 1024 * 1024;

/** Leads its own process group: the terminal's Ctrl-C does not reach it, and killing the group leaves no orphans. */
export class Child {
  readonly name: string;
  readonly logFile: string;
  readonly identity: ProcessIdentity | undefined;
  readonly exited: Promise<ChildExit>;
  #exit: ChildExit | undefined;

  constructor(options: ChildOptions) {
    this.name = options.name;
    this.logFile = options.logFile;
    const log = openLog(options.logFile);
    const { command, args, environment, cwd, uid, gid } = options;
    const spawnOptions: SpawnOptions = {
      env: { ...environment },
      stdio: ['ignore', log, log],
      detached: true,
      cwd,
      uid,
      gid,
    };
    const child = spawn(command, args, spawnOptions);
    closeSync(log);
    this.exited = new Promise((resolve) => {
      const end = (exit: ChildExit) => {
        // Kill remaining children now: the system may reuse the number of the group later.
        this.killNow();
        this.#exit ??= exit;
        resolve(this.#exit);
      };
      child.once('error', (error) => end({ code: null, signal: null, error }));
      child.once('exit', (code, signal) => end({ code, signal }));
    });
    this.identity = child.pid === undefined ? undefined : (identityOf(child.pid) ?? { pid: child.pid, startedAt: '' });
  }

  get exit(): ChildExit | undefined {
    return this.#exit;
  }

  get running(): boolean {
    return this.#exit === undefined;
  }

  signal(signal: NodeJS.Signals): void {
    if (this.identity !== undefined && this.running) sendSignal(this.identity.pid, signal);
  }

  /** Kills the process group if the process still runs after `graceMs`. */
  async stop(graceMs: number, signal: NodeJS.Signals = 'SIGTERM'): Promise<ChildExit> {
    this.signal(signal);
    const timer = new AbortController();
    const ended = await Promise.race([
      this.exited.then(() => true),
      delay(graceMs, false, { signal: timer.signal }).catch(() => false),
    ]);
    timer.abort();
    return ended ? this.exited : this.kill();
  }

  async kill(): Promise<ChildExit> {
    this.killNow();
    return this.exited;
  }

  /** For the `exit` event of our own process, which cannot await. */
  killNow(): void {
    if (this.identity === undefined || this.#exit !== undefined) return;
    try {
      sendSignal(-this.identity.pid, 'SIGKILL');
    } catch (error) {
      // Some systems answer EPERM for a group whose last member is a zombie.
      if (codeOf(error) !== 'EPERM') throw error;
    }
  }

  tail(lines = 20): string {
    try {
      return readFileSync(this.logFile, 'utf8').trimEnd().split('\n').slice(-lines).join('\n');
    } catch {
      return '';
    }
  }
}

export function describeExit(exit: ChildExit): string {
  if (exit.error !== undefined) return `could not be started: ${messageOf(exit.error)}`;
  if (exit.signal !== null) return `was ended by ${exit.signal}`;
  return `ended with exit code ${exit.code}`;
}

function openLog(file: string): number {
  mkdirSync(dirname(file), { recursive: true });
  try {
    if (statSync(file).size > LOG_ROTATE_BYTES) renameSync(file, `${file}.1`);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
  return openSync(file, 'a', 0o600);
}

/** A server that has ended is not asked: another program could answer on its port. */
export async function untilReady(child: Child, options: ReadyOptions): Promise<void> {
  const { timeoutMs, pollMs, answers, what = child.name, late = 'does not answer' } = options;
  const ofLog = (state: string) =>
    new UserError(`${what} ${state}.\n${child.tail()}`.trimEnd(), `These are the last lines of ${child.logFile}.`);
  const { failure = ofLog } = options;
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    if (child.exit !== undefined) throw failure(describeExit(child.exit));
    try {
      await answers();
      return;
    } catch (error) {
      if (Date.now() > deadline) throw failure(`${late}: ${messageOf(error)}`);
    }
    await delay(pollMs);
  }
}

const ANSWER_TIMEOUT_MS = 2_000;

/** @throws Error unless the address answers 200. */
export async function answersOk(url: string): Promise<void> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(text);
}

/** Also valid after the system has reused the number. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startedAt: string;
}

/** @returns undefined when no such process runs. */
export function identityOf(pid: number): ProcessIdentity | undefined {
  const startedAt = process.platform === 'linux' ? startOnLinux(pid) : startByPs(pid);
  return startedAt === undefined ? undefined : { pid, startedAt };
}

export function isRunning(identity: ProcessIdentity): boolean {
  return identityOf(identity.pid)?.startedAt === identity.startedAt;
}

export function commandLineOf(pid: number): string {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).trim();
  } catch {
    return '';
  }
}

/** `-pid` is a process group. Does nothing if it has ended. */
export function sendSignal(target: number, signal: NodeJS.Signals): void {
  try {
    process.kill(target, signal);
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') throw error;
  }
}

function startOnLinux(pid: number): string | undefined {
  try {
    // The command name may contain spaces and parentheses; the fields begin after its last one.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A zombie has ended, but its parent has not read its exit status.
    return fields[0] === 'Z' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

function startByPs(pid: number): string | undefined {
  try {
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || undefined;
  } catch {
    return undefined;
  }
}

/** A server in a process of its own, which can be started again after its end. */
export abstract class ServerProcess {
  readonly name: string;
  readonly #stopGraceMs: number;
  readonly #stopSignal: NodeJS.Signals;
  #child: Child | undefined;

  protected constructor(name: string, stopGraceMs: number, stopSignal: NodeJS.Signals = 'SIGTERM') {
    this.name = name;
    this.#stopGraceMs = stopGraceMs;
    this.#stopSignal = stopSignal;
  }

  /** Resolves when ready. @throws UserError when it ends or is not ready in time. */
  abstract start(): Promise<void>;

  get child(): Child | undefined {
    return this.#child;
  }

  protected launch(options: Omit<ChildOptions, 'name'>): Child {
    this.#child = new Child({ name: this.name, ...options });
    return this.#child;
  }

  async stop(): Promise<void> {
    await this.#child?.stop(this.#stopGraceMs, this.#stopSignal);
    await this.afterEnd();
    this.#child = undefined;
  }

  async kill(): Promise<void> {
    await this.#child?.kill();
    await this.afterEnd();
    this.#child = undefined;
  }

  /** Ends what belongs to the process, such as a proxy in front of it. */
  protected async afterEnd(): Promise<void> {
    // Most have nothing.
  }
}
