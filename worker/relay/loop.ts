import { setTimeout as delay } from 'node:timers/promises';
import type { Queue } from '#db/connection/after-commit.ts';
import type { Waiter } from '#db/connection/wakeups.ts';
import { pollQueues } from '#db/queues/relay-queues.ts';
import { pollWaitMs } from '#domain/relay/relay-decision.ts';
import type { RelayOptions } from '#worker/relay/relay.ts';

export interface Batch {
  readonly taken: number;
  readonly again: boolean;
  /** Until failed rows without a due time are tried again. */
  readonly retryAfterMs?: number;
}

export class Loop {
  readonly #stopping = new AbortController();
  readonly #waiter: Waiter;
  readonly #step: () => Promise<number | undefined>;
  readonly #onError: (error: unknown) => void;
  readonly #retryDelayMs: number;
  #running: Promise<void> | undefined;

  constructor(
    waiter: Waiter,
    step: () => Promise<number | undefined>,
    onError: (error: unknown) => void,
    retryDelayMs: number,
  ) {
    this.#waiter = waiter;
    this.#step = step;
    this.#onError = onError;
    this.#retryDelayMs = retryDelayMs;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  get isStopping(): boolean {
    return this.#stopping.signal.aborted;
  }

  wake(): void {
    this.#waiter.wake();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.wake();
    await this.#running;
  }

  async pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
  }

  async #run(): Promise<void> {
    while (!this.isStopping) {
      try {
        await this.#waiter.next(await this.#step());
      } catch (error) {
        this.#onError(error);
        await this.pause(this.#retryDelayMs);
      }
    }
  }
}

export class QueueLoop extends Loop {
  readonly #takeBatch: () => Promise<Batch>;
  #retryAfterMs: number | undefined;

  constructor(queue: Queue, takeBatch: () => Promise<Batch>, { wakeups, policy, logger }: RelayOptions) {
    super(
      wakeups.subscribe(queue),
      async () => {
        await this.drain();
        // Wake-ups of this time become one round.
        await this.pause(policy.roundPauseMs);
        return this.#retryAfterMs;
      },
      (error) => logger.error({ err: error, queue }, 'the relay could not take rows; it tries again'),
      policy.retryDelayMs,
    );
    this.#takeBatch = takeBatch;
  }

  async drain(): Promise<number> {
    for (let total = 0; ;) {
      const batch = await this.#takeBatch();
      this.#retryAfterMs = batch.retryAfterMs;
      total += batch.taken;
      if (!batch.again || this.isStopping) return total;
    }
  }
}

/** Finds rows whose notification was lost, postponed rows, and rows of a relay that has died. */
export function slowPoll({ database, wakeups, policy, logger }: RelayOptions): Loop {
  let waitMs = policy.pollMs;
  return new Loop(
    wakeups.subscribe(),
    async () => {
      const { due, nextDueMs = Infinity } = await database.run(pollQueues);
      wakeups.wake(due);
      waitMs = pollWaitMs({ waitMs, foundRows: due.length > 0, isHearing: wakeups.isHearing() }, policy);
      return Math.min(waitMs, nextDueMs);
    },
    (error) => logger.error({ err: error }, 'the queues of the relay could not be polled; it tries again'),
    policy.retryDelayMs,
  );
}
