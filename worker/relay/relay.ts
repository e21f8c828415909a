import { setTimeout as delay } from 'node:timers/promises';
import type { Queue } from '#db/connection/after-commit.ts';
import type { Waiter } from '#db/connection/wakeups.ts';
import { pollQueues } from '#db/queues/relay-queues.ts';
import { pollWaitMs } from '#domain/relay/relay-decision.ts';
import { settlesWithin } from '#telemetry/waiting.ts';
import { CutOffError, type Batch, type RelayContext, type RelayOptions } from '#worker/relay/context.ts';
import { relayInbox } from '#worker/relay/inbox.ts';
import { relayOutbox } from '#worker/relay/outbox.ts';
import { relayEndpointWakes, relayEvents } from '#worker/relay/publish.ts';

/**
 * Every step is idempotent, so the process may die at any point. Several relays share the rows. Each queue has its own
 * loop: events do not wait for a Temporal that hangs.
 */
export class Relay {
  readonly #options: RelayOptions;
  readonly #cutOff = new AbortController();
  readonly #outbox: QueueLoop;
  readonly #inbox: QueueLoop;
  readonly #events: QueueLoop;
  readonly #endpoints: QueueLoop;
  readonly #poll: Loop;

  constructor(options: RelayOptions) {
    this.#options = options;
    const { signal } = this.#cutOff;
    this.#poll = slowPoll(options);
    const context: RelayContext = {
      ...options,
      call: (work) => untilCutOff(signal, work),
      onPostponed: () => this.#poll.wake(),
      isCutOff: () => signal.aborted,
    };
    this.#outbox = queueLoop('outbox', () => relayOutbox(context), options);
    this.#inbox = queueLoop('inbox', () => relayInbox(context), options);
    this.#endpoints = queueLoop('endpoints', () => relayEndpointWakes(context), options);
    this.#events = queueLoop('events', () => relayEvents(context), options);
  }

  start(): void {
    for (const loop of this.#loops()) loop.start();
  }

  /** Waits up to `policy.stopMs`, then cuts calls to Temporal off. Resolves within twice that time in any case. */
  async stop(): Promise<void> {
    const { policy, logger } = this.#options;
    const stopped = Promise.all(this.#loops().map((loop) => loop.stop()));
    if (await settlesWithin(policy.stopMs, stopped)) return;
    this.#cutOff.abort();
    if (await settlesWithin(policy.stopMs, stopped)) return;
    logger.warn(
      {},
      'the relay does not wait for its last statements; the rows in progress are tried again after their lease',
    );
  }

  async drain(): Promise<number> {
    const events = this.#events.drain().then(async (published) => {
      await this.#endpoints.drain();
      return published;
    });
    const taken = await Promise.all([this.#outbox.drain(), this.#inbox.drain(), events]);
    return taken.reduce((sum, each) => sum + each, 0);
  }

  #loops(): readonly Loop[] {
    const queues = [this.#outbox, this.#inbox, this.#events, this.#endpoints];
    return [...queues.map(({ loop }) => loop), this.#poll];
  }
}

class Loop {
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
        const waitMs = await this.#step();
        await this.#waiter.next(waitMs);
      } catch (error) {
        this.#onError(error);
        await this.pause(this.#retryDelayMs);
      }
    }
  }
}

interface QueueLoop {
  readonly loop: Loop;
  readonly drain: () => Promise<number>;
}

function queueLoop(
  queue: Queue,
  takeBatch: () => Promise<Batch>,
  { wakeups, policy, logger }: RelayOptions,
): QueueLoop {
  let retryAfterMs: number | undefined;
  const drain = async () => {
    for (let total = 0; ;) {
      const batch = await takeBatch();
      retryAfterMs = batch.retryAfterMs;
      total += batch.taken;
      if (!batch.again || loop.isStopping) return total;
    }
  };
  const loop: Loop = new Loop(
    wakeups.subscribe(queue),
    async () => {
      await drain();
      // Wake-ups of this time become one round.
      await loop.pause(policy.roundPauseMs);
      return retryAfterMs;
    },
    (error) => logger.error({ err: error, queue }, 'the relay could not take rows; it tries again'),
    policy.retryDelayMs,
  );
  return { loop, drain };
}

/** Finds rows whose notification was lost, postponed rows, and rows of a relay that has died. */
function slowPoll({ database, wakeups, policy, logger }: RelayOptions): Loop {
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

async function untilCutOff<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
  if (signal.aborted) throw new CutOffError();
  const { promise: cutOff, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(new CutOffError());
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work(), cutOff]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
