/** A time in which a process was stopped, in epoch milliseconds. */
export interface Frozen {
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * When a process had yet to run for `ms` until `atMs`. A frozen process does nothing, so frozen time does not count.
 *
 * @returns epoch milliseconds.
 */
export function runningSince(atMs: number, ms: number, frozen: readonly Frozen[]): number {
  let start = atMs - ms;
  for (const { fromMs, toMs } of frozen.toSorted((left, right) => right.toMs - left.toMs)) {
    const end = Math.min(toMs, atMs);
    if (end > start && fromMs < end) start -= end - fromMs;
  }
  return start;
}
