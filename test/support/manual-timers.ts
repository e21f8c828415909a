import type { Timers } from '#upstream/client/http.ts';

/** Timers that fire only on request of a test. */
export class ManualTimers implements Timers {
  readonly #waiting = new Map<number, { callback: () => void; delayMs: number }>();
  #last = 0;
  /** The present time in milliseconds, set by a test. */
  now = 0;

  monotonicNow(): number {
    return this.now;
  }

  setTimeout(callback: () => void, delayMs: number): unknown {
    this.#last += 1;
    this.#waiting.set(this.#last, { callback, delayMs });
    return this.#last;
  }

  clearTimeout(timer: unknown): void {
    this.#waiting.delete(timer as number);
  }

  /** Delays of the waiting timers, in the order of their creation. */
  get delays(): readonly number[] {
    return [...this.#waiting.values()].map(({ delayMs }) => delayMs);
  }

  pass(): void {
    const due = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { callback } of due) callback();
  }
}
