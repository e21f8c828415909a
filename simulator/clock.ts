/** The simulator's two clocks, in epoch milliseconds. */
export interface Clock {
  /** Business time, for due dates, expiry and `created_at`. The admin API can advance it; a dialect may be wrong. */
  readonly now: () => number;
  /** Business time without the error of the dialect. */
  readonly correct: () => number;
  /** The machine's time, for webhook signatures: receivers compare them with their own clock. */
  readonly wall: () => number;
  /** Moves business time forward. @param ms milliseconds; not negative. */
  advance(ms: number): void;
  /** Milliseconds by which business time is ahead of the machine's time. */
  offset(): number;
  setOffset(ms: number): void;
}

/**
 * @param wall the machine's time, epoch milliseconds. @param offsetMs initial lead of business time, in milliseconds.
 * @param errorMs milliseconds by which the clock is wrong in the present dialect.
 */
export function createClock(wall: () => number, offsetMs: number, errorMs: () => number): Clock {
  let offset = offsetMs;
  return {
    now: () => wall() + offset + errorMs(),
    correct: () => wall() + offset,
    wall,
    advance: (ms) => {
      offset += ms;
    },
    offset: () => offset,
    setOffset: (ms) => {
      offset = ms;
    },
  };
}

/** Formats epoch milliseconds as the service writes times: RFC 3339 in UTC. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** A source of work that becomes due by the simulator's clock. */
export interface DueSource {
  /** The time of its next work after `now`, in epoch milliseconds; undefined when none is planned. */
  nextDue(now: number): number | undefined;
  /** Does or starts the work that is due. */
  runDue(now: number): void;
}

/** Maximum delay of a timer; after it, the agenda checks again. */
const LONGEST_WAIT_MS = 3_600_000;

/** Failed work is still due. Without this pause it would fail in a tight loop. */
const WAIT_AFTER_FAILURE_MS = 1_000;

/** The only timer of the simulator. Due times are stored in the database, so a restart loses none. */
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

  /** Checks for due work after the current call. Call it when work was planned or finished, or the clock was moved. */
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
    // Both steps use one time: work that becomes due between two readings of the clock would be missed for ever.
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
