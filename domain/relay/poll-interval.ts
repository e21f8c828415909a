/** Times of a slow poll beside notifications, in milliseconds. */
export interface PollPolicy {
  readonly pollMs: number;
  readonly pollMaxMs: number;
}

/** What the last poll found. */
export interface LastPoll {
  /** Its wait, in milliseconds. */
  readonly waitMs: number;
  /** True when a queue had rows that were due. */
  readonly foundRows: boolean;
  /** True while notifications are proved to arrive. */
  readonly isHearing: boolean;
}

/**
 * The wait until the next poll, in milliseconds. It doubles up to `pollMaxMs` while notifications arrive and the poll
 * finds nothing; otherwise it is `pollMs`.
 */
export function pollWaitMs({ waitMs, foundRows, isHearing }: LastPoll, { pollMs, pollMaxMs }: PollPolicy): number {
  if (foundRows || !isHearing) return pollMs;
  return Math.min(waitMs * 2, Math.max(pollMs, pollMaxMs));
}
