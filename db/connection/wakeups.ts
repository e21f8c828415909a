import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Channel } from '#db/connection/notifier.ts';
import type { Logger } from '#telemetry/logger.ts';

const RECONNECT_MS = 1_000;

export interface WakeupsOptions {
  readonly channel: Channel;
  /** A direct connection: a pooler in transaction mode would lose the notifications. */
  readonly url: string;
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string;
  readonly logger: Logger;
}

/** Waits for rows. */
export interface Waiter {
  wake(): void;
  /** Resolves at the next wake-up, at once if there was one since the last, or after `pollMs`. */
  next(pollMs: number): Promise<void>;
}

class Wakeup implements Waiter {
  #pending = false;
  #resolve: (() => void) | undefined;

  wake(): void {
    this.#pending = true;
    this.#resolve?.();
  }

  async next(pollMs: number): Promise<void> {
    if (!this.#pending) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#resolve = resolve;
      const timer = setTimeout(resolve, pollMs);
      await promise;
      clearTimeout(timer);
      this.#resolve = undefined;
    }
    this.#pending = false;
  }
}

/**
 * Wakes waiters: by a notification of PostgreSQL on its own connection, by {@link wake}, or by the slow poll. A lost
 * notification costs one poll, never a row.
 */
export class Wakeups {
  readonly #options: WakeupsOptions;
  readonly #stopping = new AbortController();
  readonly #own = new Wakeup();
  readonly #waiters: Waiter[] = [this.#own];
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

  /** A further waiter, independent of the others. */
  subscribe(): Waiter {
    const waiter = new Wakeup();
    this.#waiters.push(waiter);
    return waiter;
  }

  /** Wakes all waiters. */
  wake(): void {
    for (const waiter of this.#waiters) waiter.wake();
  }

  /** As {@link Waiter.next}, for a single waiter. */
  async next(pollMs: number): Promise<void> {
    await this.#own.next(pollMs);
  }

  /** Waits without being woken by rows; only {@link close} cuts it short. */
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

  /** Listens until the connection breaks or {@link close}. */
  async #listenOnce(): Promise<void> {
    const { channel, url, applicationName } = this.#options;
    const client = new pg.Client({
      connectionString: url,
      application_name: applicationName,
      connectionTimeoutMillis: 5_000,
      keepAlive: true,
    });
    const ended = Promise.withResolvers<void>();
    client.on('error', ended.reject);
    client.on('end', () => ended.resolve());
    client.on('notification', () => this.wake());
    const stop = () => void client.end();
    try {
      await client.connect();
      await client.query(`LISTEN ${channel}`);
      this.#stopping.signal.addEventListener('abort', stop);
      // Closed while it connected.
      if (this.#stopping.signal.aborted) stop();
      // Rows that were added before it listened.
      this.wake();
      await ended.promise;
    } finally {
      this.#stopping.signal.removeEventListener('abort', stop);
      await client.end().catch(() => undefined);
    }
  }
}
