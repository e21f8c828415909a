import { type SpawnOptions, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type ProcessIdentity, identityOf, sendSignal } from '#cli/embedded/process-identity.ts';
import { codeOf, messageOf } from '#cli/terminal/user-error.ts';

export interface ChildOptions {
  /** Shown to people. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Standard output and error go straight to this file, so that the child outlives us without a broken pipe. */
  readonly logFile: string;
  readonly uid?: number;
  readonly gid?: number;
}

/** How a child ended. */
export interface ChildExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Set when it could not be started at all. */
  readonly error?: Error;
}

// A log that grew beyond this is put aside once, under `.1`, when its process starts anew.
const LOG_ROTATE_BYTES = 10 * 1024 * 1024;

/**
 * A process of ours, leader of its own process group: the terminal's Ctrl-C does not reach it, so that everything is
 * stopped in order, and nothing it started is left behind.
 */
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
    const spawnOptions: SpawnOptions = {
      env: { ...options.environment },
      stdio: ['ignore', log, log],
      detached: true,
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      ...(options.uid === undefined ? {} : { uid: options.uid }),
      ...(options.gid === undefined ? {} : { gid: options.gid }),
    };
    const child = spawn(options.command, options.args, spawnOptions);
    closeSync(log);
    this.exited = new Promise((resolve) => {
      const end = (exit: ChildExit) => {
        // What it had started has no owner now, and the group's number is free to be given out again afterwards.
        this.#killGroup();
        this.#exit ??= exit;
        resolve(this.#exit);
      };
      child.once('error', (error) => end({ code: null, signal: null, error }));
      child.once('exit', (code, signal) => end({ code, signal }));
    });
    this.identity = child.pid === undefined ? undefined : (identityOf(child.pid) ?? { pid: child.pid, startedAt: '' });
  }

  /** How it ended; undefined while it runs. */
  get exit(): ChildExit | undefined {
    return this.#exit;
  }

  get running(): boolean {
    return this.#exit === undefined;
  }

  signal(signal: NodeJS.Signals): void {
    if (this.identity !== undefined && this.running) sendSignal(this.identity.pid, signal);
  }

  /** Asks it to end and, when it has not after `graceMs`, ends it and all it started. */
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

  /** Ends it and all it started at once, as a power cut would. */
  async kill(): Promise<ChildExit> {
    this.#killGroup();
    return this.exited;
  }

  /** For the `exit` event of our own process, where nothing can be awaited. */
  killNow(): void {
    this.#killGroup();
  }

  /** The end of its log. @param lines how many at most. */
  tail(lines = 20): string {
    return tailOf(this.logFile, lines);
  }

  #killGroup(): void {
    if (this.identity === undefined || this.#exit !== undefined) return;
    try {
      sendSignal(-this.identity.pid, 'SIGKILL');
    } catch (error) {
      // A group whose last member has just become a zombie answers EPERM on some systems.
      if (codeOf(error) !== 'EPERM') throw error;
    }
  }
}

/** How a child ended, in words. */
export function describeExit(exit: ChildExit): string {
  if (exit.error !== undefined) return `could not be started: ${messageOf(exit.error)}`;
  if (exit.signal !== null) return `was ended by ${exit.signal}`;
  return `ended with exit code ${exit.code}`;
}

/** The last lines of a file; empty when it cannot be read. */
function tailOf(file: string, lines: number): string {
  try {
    return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-lines).join('\n');
  } catch {
    return '';
  }
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
