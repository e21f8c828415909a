import { settlesWithin } from '#telemetry/settles-within.ts';

/** Reads values with a time limit, so that a scrape is answered while PostgreSQL hangs. */
export class TimedReading<Value> {
  readonly #read: () => Promise<Value>;
  readonly #limitMs: number;
  #running: Promise<Value> | undefined;

  constructor(read: () => Promise<Value>, limitMs: number) {
    this.#read = read;
    this.#limitMs = limitMs;
  }

  /**
   * Waits for a reading that still runs: another one at each scrape would take all connections to PostgreSQL.
   *
   * @throws the error of the reading, or Error when it takes longer than the limit.
   */
  async value(): Promise<Value> {
    const running = (this.#running ??= this.#start());
    if (await settlesWithin(this.#limitMs, running)) return await running;
    throw new Error(`no values within ${this.#limitMs} ms`);
  }

  #start(): Promise<Value> {
    return Promise.resolve()
      .then(this.#read)
      .finally(() => (this.#running = undefined));
  }
}
