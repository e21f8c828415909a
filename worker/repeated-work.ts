import { setTimeout as delay } from 'node:timers/promises';

/** Work that a worker process repeats until it is stopped. */
export abstract class RepeatedWork {
  readonly #everyMs: number;
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;

  constructor(everyMs: number) {
    this.#everyMs = everyMs;
  }

  /** Aborted by `stop`. */
  protected get signal(): AbortSignal {
    return this.#stopping.signal;
  }

  /** One turn; must not throw. @returns false when no further one is needed. */
  protected abstract turn(): Promise<boolean>;

  start(): void {
    this.#running ??= this.#run();
  }

  /** Stops, and waits for a turn under way. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this;
    while (!signal.aborted && (await this.turn())) {
      await delay(this.#everyMs, undefined, { signal }).catch(() => undefined);
    }
  }
}
