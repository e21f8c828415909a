import { settlesWithin } from '#worker/health/settles-within.ts';
import { CutOffError, type RelayContext, type RelayOptions } from '#worker/relay/context.ts';
import { relayEndpointWakes, relayEvents } from '#worker/relay/events.ts';
import { relayInbox } from '#worker/relay/inbox.ts';
import { QueueLoop, type Batch } from '#worker/relay/loop.ts';
import { relayOutbox } from '#worker/relay/outbox.ts';

export type { EndpointWorkflows, RelayOptions, WorkWorkflows } from '#worker/relay/context.ts';

/**
 * Hands over what PostgreSQL has accepted: work to start (outbox) and reports of the service (inbox) to Temporal,
 * events to those who read them. Everything it does may be done twice, so that it can die at any point; several relays
 * share the work.
 *
 * Each queue has a loop of its own: what needs PostgreSQL alone, such as events, does not wait for a Temporal that
 * hangs.
 */
export class Relay {
  readonly #options: RelayOptions;
  readonly #cutOff = new AbortController();
  readonly #outbox: QueueLoop;
  readonly #inbox: QueueLoop;
  readonly #events: QueueLoop;
  readonly #endpoints: QueueLoop;

  constructor(options: RelayOptions) {
    this.#options = options;
    const { signal } = this.#cutOff;
    const context: RelayContext = {
      ...options,
      call: (work) => untilCutOff(signal, work),
      isCutOff: () => signal.aborted,
    };
    this.#outbox = this.#loop('outbox', () => relayOutbox(context));
    this.#inbox = this.#loop('inbox', () => relayInbox(context));
    this.#endpoints = this.#loop('endpoints', () => relayEndpointWakes(context));
    this.#events = this.#loop('events', async () => {
      const batch = await relayEvents(context);
      if (batch.taken > 0) this.#endpoints.wake();
      return batch;
    });
  }

  start(): void {
    for (const loop of this.#loops()) loop.start();
  }

  /**
   * Stops taking rows and waits for those in hand, `policy.stopMs` at most: then calls to Temporal are given up, and
   * their rows go back. Resolves within twice that time, whatever hangs.
   */
  async stop(): Promise<void> {
    const {
      policy: { stopMs },
      logger,
    } = this.#options;
    const stopped = Promise.all(this.#loops().map((loop) => loop.stop()));
    if (await settlesWithin(stopMs, stopped)) return;
    this.#cutOff.abort();
    if (await settlesWithin(stopMs, stopped)) return;
    logger.warn(
      {},
      'the relay does not wait for its last statements; the rows that it has in hand come again after their lease',
    );
  }

  /** Takes and hands over until nothing is due. @returns how many rows were taken. */
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

  #loop(queue: string, takeBatch: () => Promise<Batch>): QueueLoop {
    const {
      wakeups,
      policy: { pollMs, retryDelayMs },
      logger,
    } = this.#options;
    return new QueueLoop({ queue, takeBatch, waiter: wakeups.subscribe(), pollMs, retryDelayMs, logger });
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
