import type { Queue } from '#db/connection/after-commit.ts';
import { pollQueues } from '#db/queues/relay-queues.ts';
import { settlesWithin } from '#telemetry/waiting.ts';
import { relayInbox } from '#worker/relay/inbox.ts';
import {
  type Batch,
  CutOffError,
  QueueLoop,
  type RelayContext,
  type RelayOptions,
  SlowPoll,
} from '#worker/relay/loop.ts';
import { relayOutbox } from '#worker/relay/outbox.ts';
import { eventPublication, relayEndpointWakes } from '#worker/relay/publish.ts';

export type { EndpointWorkflows, RelayOptions, WorkWorkflows } from '#worker/relay/loop.ts';

/**
 * Passes rows of PostgreSQL on: starts of work (outbox) and reports of the service (inbox) to Temporal, events to their
 * readers. Every step is idempotent, so the process may die at any point. Several relays share the rows.
 *
 * Each queue has its own loop, so that events, which need only PostgreSQL, do not wait for a Temporal that hangs. A
 * loop is woken only for its queue.
 */
export class Relay {
  readonly #options: RelayOptions;
  readonly #cutOff = new AbortController();
  readonly #outbox: QueueLoop;
  readonly #inbox: QueueLoop;
  readonly #events: QueueLoop;
  readonly #endpoints: QueueLoop;
  readonly #poll: SlowPoll;

  constructor(options: RelayOptions) {
    this.#options = options;
    const { database, wakeups, policy, logger } = options;
    this.#poll = new SlowPoll({ read: () => database.run(pollQueues), wakeups, policy, logger });
    const { signal } = this.#cutOff;
    const context: RelayContext = {
      ...options,
      call: (work) => untilCutOff(signal, work),
      onPostponed: () => this.#poll.now(),
      isCutOff: () => signal.aborted,
    };
    this.#outbox = this.#loop('outbox', () => relayOutbox(context));
    this.#inbox = this.#loop('inbox', () => relayInbox(context));
    this.#endpoints = this.#loop('endpoints', () => relayEndpointWakes(context));
    this.#events = this.#loop('events', eventPublication(context));
  }

  start(): void {
    for (const loop of this.#loops()) loop.start();
    this.#poll.start();
  }

  /**
   * Takes no more rows and waits up to `policy.stopMs` for those in progress. Then cuts calls to Temporal off and
   * releases their rows. Resolves within twice that time in any case.
   */
  async stop(): Promise<void> {
    const {
      policy: { stopMs },
      logger,
    } = this.#options;
    const stopped = Promise.all([this.#poll, ...this.#loops()].map((part) => part.stop()));
    if (await settlesWithin(stopMs, stopped)) return;
    this.#cutOff.abort();
    if (await settlesWithin(stopMs, stopped)) return;
    logger.warn(
      {},
      'the relay does not wait for its last statements; the rows in progress are tried again after their lease',
    );
  }

  /** Processes all queues until nothing is due. @returns the number of rows taken. */
  async drain(): Promise<number> {
    const events = this.#events.drain().then(async (published) => {
      await this.#endpoints.drain();
      return published;
    });
    const taken = await Promise.all([this.#outbox.drain(), this.#inbox.drain(), events]);
    return taken.reduce((sum, each) => sum + each, 0);
  }

  #loops(): readonly QueueLoop[] {
    return [this.#outbox, this.#inbox, this.#events, this.#endpoints];
  }

  #loop(queue: Queue, takeBatch: () => Promise<Batch>): QueueLoop {
    const {
      wakeups,
      policy: { roundPauseMs, retryDelayMs },
      logger,
    } = this.#options;
    return new QueueLoop({ queue, takeBatch, waiter: wakeups.subscribe(queue), roundPauseMs, retryDelayMs, logger });
  }
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
