import { setTimeout as delay } from 'node:timers/promises';
import type { Waiter } from '#db/connection/wakeups.ts';
import type { Logger } from '#telemetry/logger.ts';

/** What one look at a queue came to. */
export interface Batch {
  readonly taken: number;
  /** True when more may be due at this moment. */
  readonly again: boolean;
}

export interface QueueLoopOptions {
  /** For the log. */
  readonly queue: string;
  /** Takes what is due, up to a limit, and hands it over. */
  readonly takeBatch: () => Promise<Batch>;
  readonly waiter: Waiter;
  /** Milliseconds until it looks without being woken. */
  readonly pollMs: number;
  /** Milliseconds until it looks again after it could not take anything. */
  readonly retryDelayMs: number;
  readonly logger: Logger;
}

/**
 * Empties one queue whenever it is woken. Each queue has a loop of its own, so that none waits for what another one
 * needs.
 */
export class QueueLoop {
  readonly #options: QueueLoopOptions;
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;

  constructor(options: QueueLoopOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  wake(): void {
    this.#options.waiter.wake();
  }

  /** Takes nothing any more. @returns when what is in hand is done with. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.wake();
    await this.#running;
  }

  /** Takes and hands over until nothing is due. @returns how many rows were taken. */
  async drain(): Promise<number> {
    let total = 0;
    for (;;) {
      const { taken, again } = await this.#options.takeBatch();
      total += taken;
      if (!again || this.#stopping.signal.aborted) return total;
    }
  }

  async #run(): Promise<void> {
    const { queue, waiter, pollMs, retryDelayMs, logger } = this.#options;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        await this.drain();
      } catch (error) {
        logger.error({ err: error, queue }, 'the relay could not take rows; it tries again');
        await delay(retryDelayMs, undefined, { signal }).catch(() => undefined);
        continue;
      }
      await waiter.next(pollMs);
    }
  }
}
