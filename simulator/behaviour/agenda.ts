/** Work that becomes due by the simulator's clock. */
export interface DueSource {
  /** When its next work after `now` is due; epoch milliseconds. */
  nextDue(now: number): number | undefined;
  /** Does, or starts, what is due. */
  runDue(now: number): void;
}

/** Timers cannot be set further ahead than this; then it looks again. */
const LONGEST_WAIT_MS = 3_600_000;

/** Work that failed is still due; without a pause it would fail a thousand times a second. */
const WAIT_AFTER_FAILURE_MS = 1_000;

/** The one timer of the simulator: what is due stands in the database, so that a restart forgets nothing. */
export class Agenda {
  readonly #now: () => number;
  readonly #sources: DueSource[] = [];
  readonly #onError: (error: unknown) => void;
  #timer: NodeJS.Timeout | undefined;
  #soon: NodeJS.Immediate | undefined;
  #stopped = false;

  /** @param now epoch milliseconds of business time. */
  constructor(now: () => number, onError: (error: unknown) => void) {
    this.#now = now;
    this.#onError = onError;
  }

  add(source: DueSource): void {
    this.#sources.push(source);
  }

  /** Something was planned, finished, or the clock has moved: look again, after the current call has ended. */
  wake(): void {
    if (this.#stopped || this.#soon !== undefined) return;
    this.#soon = setImmediate(() => {
      this.#soon = undefined;
      this.#run();
    });
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    clearImmediate(this.#soon);
  }

  #run(): void {
    if (this.#stopped) return;
    // One moment for both halves: what becomes due in between would belong to neither, and wait for ever.
    const now = this.#now();
    let failed = false;
    for (const source of this.#sources) {
      try {
        source.runDue(now);
      } catch (error) {
        failed = true;
        this.#onError(error);
      }
    }
    clearTimeout(this.#timer);
    if (failed) this.#timer = setTimeout(() => this.#run(), WAIT_AFTER_FAILURE_MS);
    else this.#arm(now);
  }

  #arm(now: number): void {
    const next = Math.min(...this.#sources.map((source) => source.nextDue(now) ?? Number.POSITIVE_INFINITY));
    if (!Number.isFinite(next)) return;
    this.#timer = setTimeout(() => this.#run(), Math.min(LONGEST_WAIT_MS, Math.max(1, next - this.#now())));
  }
}
