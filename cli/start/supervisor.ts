import { setTimeout as delay } from 'node:timers/promises';
import { type ChildExit, describeExit } from '#cli/embedded/child.ts';
import type { ProcessIdentity } from '#cli/embedded/process-identity.ts';
import type { Part } from '#cli/start/part.ts';
import { messageOf } from '#cli/terminal/user-error.ts';
import { EXIT_CONFIGURATION } from '#config/fields.ts';

export interface SupervisorOptions {
  /** All parts so far, in the order in which they are stopped. */
  readonly parts: () => readonly Part[];
  /** Called with each process that was started. */
  readonly onStarted: (child: ProcessIdentity) => void;
  /** Called with a text for people when a part ended or was restarted. */
  readonly onEvent: (text: string) => void;
  /** Called when a part refuses its configuration: a restart would fail in the same way. */
  readonly onUnusable: (error: Error) => void;
  /** First wait before a part that ended is restarted, in milliseconds; doubled each time. */
  readonly restartDelayMs?: number;
}

const RESTART_DELAY_MS = 1_000;
const RESTART_DELAY_MAX_MS = 30_000;
// After this run time the wait before a restart begins again at its first value.
const STABLE_AFTER_MS = 60_000;

/** Starts parts, restarts them when they end by themselves, and stops them all in order. */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #stopping = new AbortController();
  readonly #starts = new Set<Promise<void>>();

  constructor(options: SupervisorOptions) {
    this.#options = options;
  }

  /** Starts a part, waits until it is ready and restarts it from then on when it ends. @throws what its start throws. */
  async start(part: Part): Promise<void> {
    await this.#startOnce(part);
    void this.#keepRunning(part);
  }

  /** Stops all running parts one after the other, then those that were being started meanwhile. */
  async stopAll(onPart: (name: string) => void = () => undefined): Promise<void> {
    this.#stopping.abort();
    await this.#stopRunning(onPart);
    await Promise.allSettled(this.#starts);
    await this.#stopRunning(onPart);
  }

  /** Kills all running parts. */
  killAll(): void {
    this.#stopping.abort();
    for (const part of this.#options.parts()) part.child?.killNow();
  }

  async #stopRunning(onPart: (name: string) => void): Promise<void> {
    for (const part of this.#options.parts()) {
      if (part.child === undefined) continue;
      onPart(part.name);
      await part.stop();
    }
  }

  async #startOnce(part: Part): Promise<void> {
    this.#stopping.signal.throwIfAborted();
    const start = part.start();
    this.#starts.add(start);
    // Recorded before the process is ready: if we are killed now, the next start must find it.
    const early = part.child;
    if (early?.identity !== undefined) this.#options.onStarted(early.identity);
    try {
      await start;
    } finally {
      this.#starts.delete(start);
    }
    if (part.child !== early && part.child?.identity !== undefined) this.#options.onStarted(part.child.identity);
  }

  async #keepRunning(part: Part): Promise<void> {
    const { restartDelayMs = RESTART_DELAY_MS, onEvent, onUnusable } = this.#options;
    let failures = 0;
    let startedAt = Date.now();
    let exit = await part.child?.exited;
    while (!this.#stopping.signal.aborted && exit !== undefined) {
      if (exit.code === EXIT_CONFIGURATION) {
        onUnusable(new Error(`${part.name} refuses its configuration; its log says why`));
        return;
      }
      failures = Date.now() - startedAt > STABLE_AFTER_MS ? 1 : failures + 1;
      const wait = Math.min(RESTART_DELAY_MAX_MS, restartDelayMs * 2 ** (failures - 1));
      onEvent(`${part.name} ${describeExit(exit)}; restarting it in ${wait / 1_000} s`);
      startedAt = Date.now() + wait;
      exit = await this.#restart(part, wait);
    }
  }

  /** @returns how the restarted part ended; undefined when we are stopping. */
  async #restart(part: Part, wait: number): Promise<ChildExit | undefined> {
    try {
      await delay(wait, undefined, { signal: this.#stopping.signal });
      await this.#startOnce(part);
      this.#options.onEvent(`${part.name} runs again`);
      return await part.child?.exited;
    } catch (error) {
      if (this.#stopping.signal.aborted) return undefined;
      this.#options.onEvent(`${part.name} did not start: ${messageOf(error)}`);
      // The process may hang: stop it before the next try.
      const failed = part.child;
      await part.stop();
      return (await failed?.exited) ?? { code: null, signal: null, error: new Error(messageOf(error)) };
    }
  }
}
