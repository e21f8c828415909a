import { setTimeout as delay } from 'node:timers/promises';
import type { Waiter } from '#db/connection/wakeups.ts';
import type { Logger } from '#telemetry/logger.ts';

/** Result of one round of a queue. */
export interface Batch {
  readonly taken: number;
  /** True when more rows may be due now. */
  readonly again: boolean;
  /**
   * Time until failed rows without a due time of their own are tried again, in milliseconds; absent: there are none.
   */
  readonly retryAfterMs?: number;
}

export interface QueueLoopOptions {
  /** Name for the log. */
  readonly queue: string;
  /** Takes due rows, up to a limit, and processes them. */
  readonly takeBatch: () => Promise<Batch>;
  readonly waiter: Waiter;
  /** Pause after a round, in milliseconds: wake-ups of this time become one round. */
  readonly roundPauseMs: number;
  /** Wait after a failed round, in milliseconds. */
  readonly retryDelayMs: number;
  readonly logger: Logger;
}

/**
 * Processes one queue whenever it is woken. Each queue has its own loop, so that none waits for another.
 */
export class QueueLoop {
  readonly #options: QueueLoopOptions;
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;
  #retryAfterMs: number | undefined;

  constructor(options: QueueLoopOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  wake(): void {
    this.#options.waiter.wake();
  }

  /** Takes no more rows, and waits for those in progress. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.wake();
    await this.#running;
  }

  /** Processes rows until none is due. @returns the number of rows taken. */
  async drain(): Promise<number> {
    let total = 0;
    for (;;) {
      const { taken, again, retryAfterMs } = await this.#options.takeBatch();
      this.#retryAfterMs = retryAfterMs;
      total += taken;
      if (!again || this.#stopping.signal.aborted) return total;
    }
  }

  async #run(): Promise<void> {
    const { queue, waiter, roundPauseMs, retryDelayMs, logger } = this.#options;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        await this.drain();
      } catch (error) {
        logger.error({ err: error, queue }, 'the relay could not take rows; it tries again');
        await this.#pause(retryDelayMs);
        continue;
      }
      await this.#pause(roundPauseMs);
      await waiter.next(this.#retryAfterMs);
    }
  }

  async #pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
  }
}
