/** A value with the moment it was read. */
export interface ReadAt<Value> {
  readonly value: Value;
  /** Epoch milliseconds. */
  readonly readAt: number;
}

/**
 * A read that many callers share for a few seconds, so that their polling is not passed on to the service. Callers at
 * the same time wait for the same read. A failure is given to those who waited for it and not kept.
 */
export class CachedRead<Value> {
  readonly #read: () => Promise<Value>;
  readonly #maxAgeMs: number;
  readonly #now: () => number;
  #kept: ReadAt<Value> | undefined;
  #underWay: Promise<ReadAt<Value>> | undefined;

  /** @param now epoch milliseconds. */
  constructor(read: () => Promise<Value>, options: { maxAgeMs: number; now: () => number }) {
    this.#read = read;
    this.#maxAgeMs = options.maxAgeMs;
    this.#now = options.now;
  }

  /** @throws what the read throws. */
  async get(): Promise<ReadAt<Value>> {
    const kept = this.#kept;
    if (kept !== undefined && Math.abs(this.#now() - kept.readAt) < this.#maxAgeMs) return kept;
    this.#underWay ??= this.#readNow().finally(() => (this.#underWay = undefined));
    return this.#underWay;
  }

  async #readNow(): Promise<ReadAt<Value>> {
    // The age counts from before the read: what is shown as fresh must not be older than it says.
    const readAt = this.#now();
    const value = await this.#read();
    return (this.#kept = { value, readAt });
  }
}
