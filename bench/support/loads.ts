/** Figures of the rounds of a load. */
import type { LoadResult, OpenLoadResult } from '#bench/drivers/protocol.ts';
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

/** Percentiles of orders that arrived by themselves, to their delivery. @param name of the contestant. */
export function openLatencies(name: string, { orders }: OpenLoadResult): Record<string, number> {
  const took = orders.map(({ tookMs }) => tookMs);
  return Object.fromEntries([50, 95, 99].map((share) => [`${name}_p${share}_ms`, percentile(took, share / 100)]));
}

/** The median time of the orders that arrived in each second, for a plot. */
export function overTime({ orders }: OpenLoadResult): [second: number, ms: number][] {
  const seconds = Map.groupBy(orders, ({ arrivedMs }) => Math.floor(arrivedMs / 1_000));
  return [...seconds]
    .toSorted(([left], [right]) => left - right)
    .map(([second, arrived]) => [
      second,
      percentile(
        arrived.map(({ tookMs }) => tookMs),
        0.5,
      ),
    ]);
}
