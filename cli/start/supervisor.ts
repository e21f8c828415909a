import { setTimeout as delay } from 'node:timers/promises';
import {
  answersOk,
  type ChildOptions,
  describeExit,
  type ChildExit,
  type ProcessIdentity,
  ServerProcess,
  untilReady,
} from '#cli/embedded/child.ts';
import { messageOf } from '#cli/terminal/user-error.ts';
import { EXIT_CONFIGURATION } from '#config/configuration-error.ts';

export type ManagedProcess = Pick<ServerProcess, 'name' | 'child' | 'start' | 'stop'>;

export interface NodeProcessOptions extends Omit<ChildOptions, 'command' | 'args'> {
  readonly script: string;
  readonly readyUrl: string;
  readonly stopGraceMs: number;
}

/** V8 delays garbage collection while memory is free. The image sets the same. */
export const NODE_ARGUMENTS = ['--max-semi-space-size=16', '--max-old-space-size=256'] as const;

/** Halves the start time. */
export const QUICK_START = `--import=${new URL('quick-start.mjs', import.meta.url).href}`;

const READY_TIMEOUT_MS = 60_000;
const READY_POLL_MS = 50;

export class NodeProcess extends ServerProcess {
  readonly #options: NodeProcessOptions;

  constructor(options: NodeProcessOptions) {
    super(options.name, options.stopGraceMs);
    this.#options = options;
  }

  get logFile(): string {
    return this.#options.logFile;
  }

  async start(): Promise<void> {
    const { script, readyUrl } = this.#options;
    const child = this.launch({
      ...this.#options,
      command: process.execPath,
      args: [...NODE_ARGUMENTS, QUICK_START, script],
    });
    await untilReady(child, {
      timeoutMs: READY_TIMEOUT_MS,
      pollMs: READY_POLL_MS,
      answers: () => answersOk(readyUrl),
      late: 'was not ready within a minute',
    });
  }
}

export interface SupervisorOptions {
  readonly processes: () => readonly ManagedProcess[];
  readonly onStarted: (child: ProcessIdentity) => void;
  readonly onEvent: (text: string) => void;
  /** A process refuses its configuration: a restart would fail in the same way. */
  readonly onUnusable: (error: Error) => void;
  /** Doubled with each restart. */
  readonly restartDelayMs?: number;
}

const RESTART_DELAY_MS = 1_000;
const RESTART_DELAY_MAX_MS = 30_000;
// After this run time the wait begins again at its first value.
const STABLE_AFTER_MS = 60_000;

export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #stopping = new AbortController();
  readonly #starts = new Set<Promise<void>>();

  constructor(options: SupervisorOptions) {
    this.#options = options;
  }

  /** Restarts it whenever it ends. @throws the errors of its first start. */
  async start(target: ManagedProcess): Promise<void> {
    await this.#startOnce(target);
    void this.#keepRunning(target);
  }

  /** Processes that were being started meanwhile come last. */
  async stopAll(onProcess: (name: string) => void = () => undefined): Promise<void> {
    this.#stopping.abort();
    await this.#stopRunning(onProcess);
    await Promise.allSettled(this.#starts);
    await this.#stopRunning(onProcess);
  }

  killAll(): void {
    this.#stopping.abort();
    for (const target of this.#options.processes()) target.child?.killNow();
  }

  async #stopRunning(onProcess: (name: string) => void): Promise<void> {
    for (const target of this.#options.processes()) {
      if (target.child === undefined) continue;
      onProcess(target.name);
      await target.stop();
    }
  }

  async #startOnce(target: ManagedProcess): Promise<void> {
    this.#stopping.signal.throwIfAborted();
    const start = target.start();
    this.#starts.add(start);
    // Recorded early: if we are killed now, the next start must find it.
    const early = target.child;
    if (early?.identity !== undefined) this.#options.onStarted(early.identity);
    try {
      await start;
    } finally {
      this.#starts.delete(start);
    }
    if (target.child !== early && target.child?.identity !== undefined) this.#options.onStarted(target.child.identity);
  }

  async #keepRunning(target: ManagedProcess): Promise<void> {
    const { restartDelayMs = RESTART_DELAY_MS, onEvent, onUnusable } = this.#options;
    let failures = 0;
    let startedAt = Date.now();
    let exit = await target.child?.exited;
    while (!this.#stopping.signal.aborted && exit !== undefined) {
      if (exit.code === EXIT_CONFIGURATION) {
        onUnusable(new Error(`${target.name} refuses its configuration; see its log`));
        return;
      }
      failures = Date.now() - startedAt > STABLE_AFTER_MS ? 1 : failures + 1;
      const wait = Math.min(RESTART_DELAY_MAX_MS, restartDelayMs * 2 ** (failures - 1));
      onEvent(`${target.name} ${describeExit(exit)}; restarting it in ${wait / 1_000} s`);
      startedAt = Date.now() + wait;
      exit = await this.#restart(target, wait);
    }
  }

  async #restart(target: ManagedProcess, wait: number): Promise<ChildExit | undefined> {
    try {
      await delay(wait, undefined, { signal: this.#stopping.signal });
      await this.#startOnce(target);
      this.#options.onEvent(`${target.name} runs again`);
      return await target.child?.exited;
    } catch (error) {
      if (this.#stopping.signal.aborted) return undefined;
      this.#options.onEvent(`${target.name} did not start: ${messageOf(error)}`);
      // It may hang: stop it before the next try.
      const failed = target.child;
      await target.stop();
      return (await failed?.exited) ?? { code: null, signal: null, error: new Error(messageOf(error)) };
    }
  }
}
