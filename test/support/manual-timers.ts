import type { Timers } from '#upstream/client/http.ts';

/** Timers that pass only when a test says so. */
export class ManualTimers implements Timers {
  readonly #waiting = new Map<number, { callback: () => void; delayMs: number }>();
  #last = 0;
  /** Milliseconds; a test moves it. */
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

  /** Delays of the timers that wait, in the order they were set. */
  get delays(): readonly number[] {
    return [...this.#waiting.values()].map(({ delayMs }) => delayMs);
  }

  /** Lets all timers that wait pass. */
  pass(): void {
    const due = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { callback } of due) callback();
  }
}
