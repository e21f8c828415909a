import type { ApiKeyRow } from '#db/access/api-keys.ts';
import type { Wakeups } from '#db/connection/wakeups.ts';
import { KEY_AGE_MS } from '#domain/policy/api-policy.ts';

export interface KeyCacheOptions {
  /** Reads a key from the database by its prefix. */
  readonly read: (prefix: string) => Promise<ApiKeyRow | undefined>;
  /** Notifications that keys were changed. */
  readonly changes: Pick<Wakeups, 'listen' | 'next' | 'wake' | 'close'>;
  /** Milliseconds of a clock that only goes forward. */
  readonly now: () => number;
}

interface Reading {
  readonly key: Promise<ApiKeyRow | undefined>;
  /** When the read began: what was changed later may be missing in it. */
  readonly at: number;
}

/**
 * API keys in the memory of this process. A key is read again when a notification says that keys were changed, and
 * after {@link KEY_AGE_MS} in any case, because a notification may be lost.
 */
export class KeyCache {
  readonly #options: KeyCacheOptions;
  readonly #readings = new Map<string, Reading>();
  readonly #anew = new Map<string, Reading['key']>();
  #following: Promise<void> | undefined;
  #closed = false;

  constructor(options: KeyCacheOptions) {
    this.#options = options;
  }

  /** Begins to listen for changes. */
  open(): void {
    this.#options.changes.listen();
    this.#following ??= this.#follow();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#options.changes.wake();
    await this.#following;
    await this.#options.changes.close();
  }

  /** @throws the errors of the read. */
  async find(prefix: string): Promise<ApiKeyRow | undefined> {
    const at = this.#options.now();
    const known = this.#readings.get(prefix);
    if (known !== undefined && Math.abs(at - known.at) < KEY_AGE_MS) return known.key;
    const reading = { key: this.#options.read(prefix), at };
    this.#readings.set(prefix, reading);
    try {
      const key = await reading.key;
      // Callers can make up any number of prefixes, and a new key must work at once.
      if (key === undefined) this.#forget(prefix, reading);
      return key;
    } catch (error) {
      this.#forget(prefix, reading);
      throw error;
    }
  }

  /** Reads a key, once for all that ask in the same turn. @throws the errors of the read. */
  async findAnew(prefix: string): Promise<ApiKeyRow | undefined> {
    const known = this.#anew.get(prefix);
    if (known !== undefined) return known;
    const reading = this.#options.read(prefix);
    this.#anew.set(prefix, reading);
    setImmediate(() => this.#anew.delete(prefix));
    return reading;
  }

  #forget(prefix: string, reading: Reading): void {
    if (this.#readings.get(prefix) === reading) this.#readings.delete(prefix);
  }

  async #follow(): Promise<void> {
    while (!this.#closed) {
      // Needs no poll: the age of a reading is limited in any case.
      await this.#options.changes.next();
      // Reads under way are forgotten, too: they may have begun before the change.
      this.#readings.clear();
    }
  }
}
