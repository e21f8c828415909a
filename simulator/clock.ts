/** The simulator's two clocks, in epoch milliseconds. */
export interface Clock {
  /** Business time: due dates, expiry, `created_at`. Advanced by the admin API. */
  readonly now: () => number;
  /** The machine's time: signatures of webhooks, which a receiver compares with its own clock. */
  readonly wall: () => number;
  /** Moves business time forward. @param ms how far, in milliseconds; not negative. */
  advance(ms: number): void;
  /** How far business time is ahead of the machine's, in milliseconds. */
  offset(): number;
  setOffset(ms: number): void;
}

/** @param wall the machine's time, injected. */
export function createClock(wall: () => number, offsetMs = 0): Clock {
  let offset = offsetMs;
  return {
    now: () => wall() + offset,
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

/** Epoch milliseconds as the service writes times: RFC 3339 in UTC. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
