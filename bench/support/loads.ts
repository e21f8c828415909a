/** Figures of the rounds of a load. */
import type { LoadResult } from '#bench/drivers/protocol.ts';
import { percentile } from '#bench/support/statistics.ts';

/** What was done in a second, by round. */
export function rates(rounds: readonly LoadResult[]): number[] {
  return rounds.map(({ elapsedMs, latenciesMs }) => latenciesMs.length / (elapsedMs / 1_000));
}

/** Median latency in milliseconds, by round. */
export function medians(rounds: readonly LoadResult[]): number[] {
  return rounds.map(({ latenciesMs }) => percentile(latenciesMs, 0.5));
}

/** Latencies of all rounds together. @param tail the percentile that stands between the median and the highest. */
export function latencies(rounds: readonly LoadResult[], tail: 95 | 99): Record<string, number> {
  const all = rounds.flatMap(({ latenciesMs }) => latenciesMs);
  return { p50_ms: percentile(all, 0.5), [`p${tail}_ms`]: percentile(all, tail / 100), max_ms: percentile(all, 1) };
}
