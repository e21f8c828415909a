import { performance } from 'node:perf_hooks';
import type { WorkDependencies } from '#activities/work/work-dependencies.ts';

/** The lease of a send, measured by the process that holds it. Its clock is compared with no other. */
export interface RunningLease {
  /** Milliseconds since it began. */
  readonly elapsedMs: () => number;
  /** Milliseconds until it ends; zero or less: another process may hold it. */
  readonly leftMs: () => number;
}

/**
 * Begins to measure a lease. Called before the transaction that takes it, so that it never ends here later than in the
 * database.
 *
 * The larger elapsed time of two clocks counts: the monotonic one stops while the machine sleeps, the wall clock may be
 * set back.
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
