import pg from 'pg';
import type { Queue } from '#db/connection/after-commit.ts';

/** `relay`: the payload names the filled queues. `events`: the newest published position. */
export type Channel = 'relay' | 'events' | 'api_keys';

export const HEARTBEAT = 'heartbeat';

// NOTIFY takes a lock that all notifying commits of the cluster share: it is sent after the transaction, and at most
// this often.
const MIN_INTERVAL_MS = 10;
// Listeners that hear others poll seldom.
const RETRY_AFTER_MS = 1_000;
const CONNECT_TIMEOUT_MS = 5_000;

interface NotifierOptions {
  readonly channel: Channel;
  /** A direct connection: a pooler in transaction mode would share it with others. */
  readonly url: string;
  readonly applicationName: string;
  readonly onError: (error: Error) => void;
}

/** Many calls become one notification. A lost one costs time, never work: every listener also polls. */
export class Notifier {
  readonly #options: NotifierOptions;
  #client: pg.Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #isWanted = false;
  #queues = new Set<Queue>();
  #notBefore = 0;
  #closed = false;

  constructor(options: NotifierOptions) {
    this.#options = options;
  }

  /** Returns at once and never throws. @param queues wakes only their readers; none: all readers. */
  wake(queues: Iterable<Queue> = []): void {
    if (this.#closed) return;
    for (const queue of queues) this.#queues.add(queue);
    this.#isWanted = true;
    if (this.#timer !== undefined || this.#sending !== undefined) return;
    const waitMs = this.#notBefore - performance.now();
    if (waitMs <= 0) {
      this.#send();
      return;
    }
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#send();
    }, waitMs);
    this.#timer.unref();
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#sending;
    if (this.#isWanted) await this.#notify();
    await this.#client?.end().catch(() => undefined);
  }

  #send(): void {
    this.#sending = this.#notify().finally(() => {
      this.#sending = undefined;
      if (this.#isWanted) this.wake();
    });
  }

  async #notify(): Promise<void> {
    const queues = this.#queues;
    this.#queues = new Set();
    this.#isWanted = false;
    let client: pg.Client | undefined;
    try {
      client = this.#client ??= await this.#connect();
      await client.query(`notify ${this.#options.channel}${payloadOf(queues)}`);
      this.#notBefore = performance.now() + MIN_INTERVAL_MS;
    } catch (error) {
      this.#drop(client);
      for (const queue of queues) this.#queues.add(queue);
      this.#isWanted = true;
      this.#notBefore = performance.now() + RETRY_AFTER_MS;
      this.#options.onError(error instanceof Error ? error : new Error(String(error)));
    }
  }

  async #connect(): Promise<pg.Client> {
    const client = new pg.Client({
      connectionString: this.#options.url,
      application_name: this.#options.applicationName,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: CONNECT_TIMEOUT_MS,
      keepAlive: true,
    });
    // Without the listener a connection that breaks while idle would end the process.
    client.on('error', () => this.#drop(client));
    try {
      await client.connect();
      // A notification need not wait for the disk.
      await client.query('set synchronous_commit to off');
      return client;
    } catch (error) {
      client.end().catch(() => undefined);
      throw error;
    }
  }

  #drop(client: pg.Client | undefined): void {
    if (client === undefined) return;
    if (this.#client === client) this.#client = undefined;
    client.end().catch(() => undefined);
  }
}

function payloadOf(queues: ReadonlySet<Queue>): string {
  // The names are constants of this program.
  return queues.size === 0 ? '' : `, '${[...queues].join(',')}'`;
}
