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
