import type { RelayPolicy } from '#domain/policy/relay-policy.ts';

/** What the last poll found. */
export interface LastPoll {
  /** Its wait, in milliseconds. */
  readonly waitMs: number;
  /** True when a queue had rows that were due. */
  readonly foundRows: boolean;
  /** True when a notification has arrived since the poll before. */
  readonly hasHeard: boolean;
}

/**
 * The wait until the next poll, in milliseconds. It doubles up to `pollMaxMs` while notifications arrive and the poll
 * finds nothing; otherwise it is `pollMs`.
 */
export function pollWaitMs(
  { waitMs, foundRows, hasHeard }: LastPoll,
  { pollMs, pollMaxMs }: Pick<RelayPolicy, 'pollMs' | 'pollMaxMs'>,
): number {
  if (foundRows || !hasHeard) return pollMs;
  return Math.min(waitMs * 2, Math.max(pollMs, pollMaxMs));
}
