export interface ReadAt<Value> {
  readonly value: Value;
  /** Epoch milliseconds. */
  readonly readAt: number;
}

/** Concurrent callers share one read. A rejection goes to the callers that waited for it, and is not kept. */
export class CachedRead<Value> {
  readonly #read: () => Promise<Value>;
  readonly #maxAgeMs: (value: Value) => number;
  readonly #now: () => number;
  #kept: ReadAt<Value> | undefined;
  #underWay: Promise<ReadAt<Value>> | undefined;

  constructor(
    read: () => Promise<Value>,
    options: { maxAgeMs: number | ((value: Value) => number); now: () => number },
  ) {
    const { maxAgeMs } = options;
    this.#read = read;
    this.#maxAgeMs = typeof maxAgeMs === 'number' ? () => maxAgeMs : maxAgeMs;
    this.#now = options.now;
  }

  async get(): Promise<ReadAt<Value>> {
    const kept = this.#kept;
    if (kept !== undefined && Math.abs(this.#now() - kept.readAt) < this.#maxAgeMs(kept.value)) return kept;
    this.#underWay ??= this.#readNow().finally(() => (this.#underWay = undefined));
    return this.#underWay;
  }

  async #readNow(): Promise<ReadAt<Value>> {
    // The time is taken before the read: the value may be as old as the request.
    const readAt = this.#now();
    const value = await this.#read();
    return (this.#kept = { value, readAt });
  }
}
