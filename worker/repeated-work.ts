import { setTimeout as delay } from 'node:timers/promises';

export abstract class RepeatedWork {
  readonly #everyMs: number;
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;

  constructor(everyMs: number) {
    this.#everyMs = everyMs;
  }

  protected get signal(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Must not throw. @returns false when no further turn is needed. */
  protected abstract turn(): Promise<boolean>;

  start(): void {
    this.#running ??= this.#run();
  }

  /** Waits for a turn under way. */
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
