import { setTimeout as delay } from 'node:timers/promises';
import { type ChildExit, describeExit } from '#cli/embedded/child.ts';
import type { ProcessIdentity } from '#cli/embedded/process-identity.ts';
import type { Part } from '#cli/start/part.ts';
import { messageOf } from '#cli/terminal/user-error.ts';
import { EXIT_CONFIGURATION } from '#config/fields.ts';

export interface SupervisorOptions {
  /** All there are so far, in the order in which they are stopped. */
  readonly parts: () => readonly Part[];
  /** Told of each process that was started. */
  readonly onStarted: (child: ProcessIdentity) => void;
  /** Told, in words, what happened to a part by itself. */
  readonly onEvent: (text: string) => void;
  /** Told when a part cannot go on: its configuration is wrong, so another start would end the same way. */
  readonly onHopeless: (error: Error) => void;
  /** First wait before a part that ended is started again; doubled each time. */
  readonly restartDelayMs?: number;
}

const RESTART_DELAY_MS = 1_000;
const RESTART_DELAY_MAX_MS = 30_000;
// A part that has run this long had a fault of its own moment, not one that brings it down each time.
const STABLE_AFTER_MS = 60_000;

/** Starts parts, starts them again when they end by themselves, and stops them all in order. */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #stopping = new AbortController();
  readonly #starts = new Set<Promise<void>>();

  constructor(options: SupervisorOptions) {
    this.#options = options;
  }

  /** Starts a part, waits until it is ready and looks after it from then on. @throws what its start throws. */
  async start(part: Part): Promise<void> {
    await this.#startOnce(part);
    void this.#lookAfter(part);
  }

  /** Stops what runs, one after the other, and what was just about to run. */
  async stopAll(onPart: (name: string) => void = () => undefined): Promise<void> {
    this.#stopping.abort();
    await this.#stopRunning(onPart);
    await Promise.allSettled(this.#starts);
    await this.#stopRunning(onPart);
  }

  /** Ends what runs at once. */
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
    // The process may exist before it is ready; it is written down at once, should we be killed meanwhile.
    const early = part.child;
    if (early?.identity !== undefined) this.#options.onStarted(early.identity);
    try {
      await start;
    } finally {
      this.#starts.delete(start);
    }
    if (part.child !== early && part.child?.identity !== undefined) this.#options.onStarted(part.child.identity);
  }

  async #lookAfter(part: Part): Promise<void> {
    const { restartDelayMs = RESTART_DELAY_MS, onEvent, onHopeless } = this.#options;
    let failures = 0;
    let startedAt = Date.now();
    let exit = await part.child?.exited;
    while (!this.#stopping.signal.aborted && exit !== undefined) {
      if (exit.code === EXIT_CONFIGURATION) {
        onHopeless(new Error(`${part.name} refuses its configuration; see its log`));
        return;
      }
      failures = Date.now() - startedAt > STABLE_AFTER_MS ? 1 : failures + 1;
      const wait = Math.min(RESTART_DELAY_MAX_MS, restartDelayMs * 2 ** (failures - 1));
      onEvent(`${part.name} ${describeExit(exit)}; starting it again in ${wait / 1_000} s`);
      startedAt = Date.now() + wait;
      exit = await this.#restart(part, wait);
    }
  }

  /** @returns how it ended next; undefined when we are stopping. */
  async #restart(part: Part, wait: number): Promise<ChildExit | undefined> {
    try {
      await delay(wait, undefined, { signal: this.#stopping.signal });
      await this.#startOnce(part);
      this.#options.onEvent(`${part.name} runs again`);
      return await part.child?.exited;
    } catch (error) {
      if (this.#stopping.signal.aborted) return undefined;
      this.#options.onEvent(`${part.name} did not start: ${messageOf(error)}`);
      // It may hang rather than have ended; the next round begins from a stop.
      const failed = part.child;
      await part.stop();
      return (await failed?.exited) ?? { code: null, signal: null, error: new Error(messageOf(error)) };
    }
  }
}
