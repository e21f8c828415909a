import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Queue } from '#db/connection/after-commit.ts';
import { HEARTBEAT, type Channel } from '#db/connection/notifier.ts';
import type { Logger } from '#telemetry/logger.ts';

const RECONNECT_MS = 1_000;
/** Longer than two of the slowest polls, which send a notification each. */
const PROOF_MS = 65_000;

interface WakeupsOptions {
  readonly channel: Channel;
  /** A direct connection: a pooler in transaction mode would lose the notifications. */
  readonly url: string;
  readonly applicationName: string;
  readonly logger: Logger;
  /** Heartbeats are left out. By default a payload names the queues whose readers are woken. */
  readonly onPayload?: (payload: string) => void;
}

export interface Waiter {
  wake(): void;
  /** Resolves at once if there was a wake-up since the last call; without `pollMs` it may never resolve. */
  next(pollMs?: number): Promise<void>;
}

class Wakeup implements Waiter {
  #pending = false;
  #resolve: (() => void) | undefined;

  wake(): void {
    this.#pending = true;
    this.#resolve?.();
  }

  async next(pollMs?: number): Promise<void> {
    if (!this.#pending) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#resolve = resolve;
      const timer = pollMs === undefined ? undefined : setTimeout(resolve, pollMs);
      await promise;
      clearTimeout(timer);
      this.#resolve = undefined;
    }
    this.#pending = false;
  }
}

/** Woken by a notification, by {@link wake}, or by the slow poll. A lost notification costs one poll, never a row. */
export class Wakeups {
  readonly #options: WakeupsOptions;
  readonly #stopping = new AbortController();
  readonly #own = new Wakeup();
  readonly #waiters: Waiter[] = [this.#own];
  readonly #readers = new Map<string, Waiter[]>();
  #heardAt: number | undefined;
  #listening: Promise<void> | undefined;

  constructor(options: WakeupsOptions) {
    this.#options = options;
  }

  listen(): void {
    this.#listening ??= this.#listen();
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    await this.#listening;
  }

  /** Independent of the others. @param queue wakes it only for this queue. */
  subscribe(queue?: Queue): Waiter {
    const waiter = new Wakeup();
    this.#waiters.push(waiter);
    if (queue !== undefined) this.#readers.set(queue, [...(this.#readers.get(queue) ?? []), waiter]);
    return waiter;
  }

  wake(queues?: Iterable<string>): void {
    const woken = queues === undefined ? this.#waiters : [...queues].flatMap((queue) => this.#readers.get(queue) ?? []);
    for (const waiter of woken) waiter.wake();
  }

  /** A notification has arrived lately, on the present connection. */
  isHearing(): boolean {
    return this.#heardAt !== undefined && performance.now() - this.#heardAt < PROOF_MS;
  }

  async next(pollMs?: number): Promise<void> {
    await this.#own.next(pollMs);
  }

  async pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
  }

  async #listen(): Promise<void> {
    const { channel, logger } = this.#options;
    while (!this.#stopping.signal.aborted) {
      try {
        await this.#listenOnce();
      } catch (error) {
        logger.warn(
          { err: error, channel },
          'notifications of PostgreSQL are lost until it is connected again; meanwhile there is the slow poll',
        );
      }
      await this.pause(RECONNECT_MS);
    }
  }

  #hear(payload: string): void {
    this.#heardAt = performance.now();
    if (payload === HEARTBEAT) return;
    const { onPayload } = this.#options;
    if (onPayload !== undefined) onPayload(payload);
    else this.wake(payload === '' ? undefined : payload.split(','));
  }

  async #listenOnce(): Promise<void> {
    const { channel, url, applicationName } = this.#options;
    const client = new pg.Client({
      connectionString: url,
      application_name: applicationName,
      connectionTimeoutMillis: 5_000,
      keepAlive: true,
      // The default of Linux is two hours: a server that vanished without a word would be believed so long.
      keepAliveInitialDelayMillis: 30_000,
    });
    const ended = Promise.withResolvers<void>();
    let isListening = false;
    client.on('error', ended.reject);
    client.on('end', () => ended.resolve());
    client.on('notification', ({ payload = '' }) => this.#hear(payload));
    const stop = () => void client.end();
    try {
      await client.connect();
      await client.query(`LISTEN ${channel}`);
      this.#stopping.signal.addEventListener('abort', stop);
      if (this.#stopping.signal.aborted) stop();
      isListening = true;
      // Rows that were added before it listened.
      this.wake();
      await ended.promise;
    } finally {
      this.#heardAt = undefined;
      // The slow poll must know that notifications are lost from now on.
      if (isListening) this.wake();
      this.#stopping.signal.removeEventListener('abort', stop);
      await client.end().catch(() => undefined);
    }
  }
}
