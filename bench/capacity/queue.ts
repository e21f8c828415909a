/** A simulation of orders that pass several parts, each with a queue. */
import { seeded } from '#bench/support/random.ts';
import { percentile } from '#bench/support/statistics.ts';

/** One part that an order passes, such as the workers together. */
export interface Part {
  readonly name: string;
  /** Processes or cores that work side by side. */
  readonly servers: number;
  /** What one order takes of one of them, in milliseconds, on average. */
  readonly serviceMs: number;
}

export interface Outcome {
  readonly orders: number;
  /** Time in queues and in work, in milliseconds. */
  readonly p50Ms: number;
  readonly p95Ms: number;
  /** Share of its time in which each part worked. */
  readonly used: Readonly<Record<string, number>>;
}

/**
 * Orders arrive by a Poisson process and pass the parts one after the other. Each part has one queue, first come, first
 * served. Service times are exponential, which is worse than what was measured.
 *
 * @param load rate in orders a second, duration in seconds; the same seed gives the same result.
 */
export function simulate(
  parts: readonly Part[],
  load: { readonly perSecond: number; readonly seconds: number; readonly seed: number },
): Outcome {
  const random = seeded(load.seed);
  const exponential = (mean: number) => -Math.log(1 - random()) * mean;
  let times = arrivals(load.perSecond, load.seconds, exponential);
  const began = times;
  const busy: Record<string, number> = {};
  for (const { name, servers, serviceMs } of parts) {
    // Parts keep their order of arrival: an order that overtook another one is served first.
    const order = times.map((at, place) => [at, place] as const).toSorted(([left], [right]) => left - right);
    const free = new Float64Array(servers);
    const ended = Array.from<number>({ length: times.length });
    let worked = 0;
    for (const [at, place] of order) {
      const server = earliest(free);
      const took = exponential(serviceMs);
      const end = Math.max(at, free[server] ?? 0) + took;
      free[server] = end;
      ended[place] = end;
      worked += took;
    }
    busy[name] = worked / (servers * load.seconds * 1_000);
    times = ended;
  }
  const took = times.map((end, place) => end - (began[place] ?? 0));
  return { orders: took.length, p50Ms: percentile(took, 0.5), p95Ms: percentile(took, 0.95), used: busy };
}

function arrivals(perSecond: number, seconds: number, exponential: (mean: number) => number): number[] {
  const at: number[] = [];
  for (let now = exponential(1_000 / perSecond); now < seconds * 1_000; now += exponential(1_000 / perSecond))
    at.push(now);
  return at;
}

function earliest(free: Float64Array): number {
  let first = 0;
  for (let place = 1; place < free.length; place += 1) if ((free[place] ?? 0) < (free[first] ?? 0)) first = place;
  return first;
}
