export const DAY_MS = 86_400_000;

/** Epoch milliseconds. */
export class Clock {
  /** For webhook signatures: receivers compare them with their own clock. */
  readonly wall: () => number;
  readonly #errorMs: () => number;
  /** The admin API advances business time only. */
  offset: number;

  /** @param errorMs the error of the clock in the present dialect. */
  constructor(wall: () => number, offset: number, errorMs: () => number) {
    this.wall = wall;
    this.offset = offset;
    this.#errorMs = errorMs;
  }

  /** Business time, for due dates, expiry and `created_at`. A dialect may be wrong. */
  now(): number {
    return this.correct() + this.#errorMs();
  }

  correct(): number {
    return this.wall() + this.offset;
  }
}

export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

export interface DueSource {
  /** Epoch milliseconds. */
  nextDue(now: number): number | undefined;
  runDue(now: number): void;
}

const LONGEST_WAIT_MS = 3_600_000;

/** Failed work is still due. Without this pause it would fail in a tight loop. */
const WAIT_AFTER_FAILURE_MS = 1_000;

/** The only timer. Due times are stored in the database, so a restart loses none. */
export class Agenda {
  readonly #now: () => number;
  readonly #sources: readonly DueSource[];
  readonly #onError: (error: unknown) => void;
  #timer: NodeJS.Timeout | undefined;
  #soon: NodeJS.Immediate | undefined;
  #stopped = false;

  constructor(sources: readonly DueSource[], now: () => number, onError: (error: unknown) => void) {
    this.#sources = sources;
    this.#now = now;
    this.#onError = onError;
  }

  /** Call it when work was planned or finished, or the clock was moved. */
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
    // One time for both steps: work that becomes due between two readings would be missed for ever.
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
