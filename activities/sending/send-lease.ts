import { performance } from 'node:perf_hooks';
import type { WorkDependencies } from '#activities/work/work-dependencies.ts';

/** The lease of a send as the process that holds it measures it, without comparing its clock with any other. */
export interface RunningLease {
  /** Milliseconds since it began. */
  readonly elapsedMs: () => number;
  /** Milliseconds until it ends; zero or less: it may have been given to another. */
  readonly leftMs: () => number;
}

/**
 * Begins to measure a lease. To be called before the transaction that takes it, so that it never ends here later than
 * in the database.
 *
 * Whichever of two clocks has gone further counts: the monotonic one stands still while the whole machine sleeps, the
 * other may be set back.
 */
export function startLease({
  sendLeaseMs,
  now,
  monotonicNow = () => performance.now(),
}: Pick<WorkDependencies, 'sendLeaseMs' | 'now' | 'monotonicNow'>): RunningLease {
  const began = { monotonic: monotonicNow(), wall: now() };
  const elapsedMs = () => Math.max(monotonicNow() - began.monotonic, now() - began.wall);
  return { elapsedMs, leftMs: () => sendLeaseMs - elapsedMs() };
}
