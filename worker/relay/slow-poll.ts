import { setTimeout as delay } from 'node:timers/promises';
import type { Waiter, Wakeups } from '#db/connection/wakeups.ts';
import type { QueuePoll } from '#db/queues/poll-queues.ts';
import type { RelayPolicy } from '#domain/policy/relay-policy.ts';
import { pollWaitMs } from '#domain/relay/poll-interval.ts';
import type { Logger } from '#telemetry/logger.ts';

export interface SlowPollOptions {
  readonly read: () => Promise<QueuePoll>;
  readonly wakeups: Pick<Wakeups, 'subscribe' | 'wake' | 'isHearing'>;
  readonly policy: Pick<RelayPolicy, 'pollMs' | 'pollMaxMs' | 'retryDelayMs'>;
  readonly logger: Logger;
}

/**
 * Wakes the readers of queues with rows that are due, and no others: for rows whose notification was lost, rows that
 * were postponed, and rows of a relay that has died.
 */
export class SlowPoll {
  readonly #options: SlowPollOptions;
  readonly #waiter: Waiter;
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;

  constructor(options: SlowPollOptions) {
    this.#options = options;
    this.#waiter = options.wakeups.subscribe();
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Polls now, because a row was postponed: only a poll knows when it is due. */
  now(): void {
    this.#waiter.wake();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.now();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { read, wakeups, policy, logger } = this.#options;
    const { signal } = this.#stopping;
    let waitMs = policy.pollMs;
    while (!signal.aborted) {
      try {
        const { due, nextDueMs = Infinity } = await read();
        wakeups.wake(due);
        waitMs = pollWaitMs({ waitMs, foundRows: due.length > 0, isHearing: wakeups.isHearing() }, policy);
        await this.#waiter.next(Math.min(waitMs, nextDueMs));
      } catch (error) {
        logger.error({ err: error }, 'the queues of the relay could not be polled; it tries again');
        await delay(policy.retryDelayMs, undefined, { signal }).catch(() => undefined);
      }
    }
  }
}
