/** `npm run generate:capacity` writes the tables of `docs/capacity.md` from the measured costs of an order. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { benchResults, type BenchResults } from '#bench/results.ts';
import { percentile, seeded } from '#bench/support/figures.ts';

const RESULTS = join(import.meta.dirname, 'results/cluster/cluster.json');
const VOLUMES = [100_000, 1_000_000, 10_000_000] as const;
const SEED = 20_301;
/** Of the busiest hour; longer gives the same figures. */
const SECONDS = 600;
const LARGE = 32;

function clusterResults(): BenchResults {
  return benchResults.parse(JSON.parse(readFileSync(RESULTS, 'utf8')));
}

/** How much one run adds depends on when PostgreSQL cleans up. */
const BYTES = ['product_bytes', 'temporal_bytes', 'wal_bytes'] as const;

function bytesOf({ scenarios }: BenchResults, name: (typeof BYTES)[number]): { lowest: number; highest: number } {
  const found = scenarios.flatMap(({ details }) => details[name] ?? []);
  if (found.length === 0) throw new Error(`the results of the workers have no ${name}`);
  return { lowest: Math.min(...found), highest: Math.max(...found) };
}

/** The time with two workers, and the most bytes of any row. @throws Error when a figure is missing. */
function measuredCosts(results: BenchResults = clusterResults()): OrderCosts {
  const details = results.scenarios.find(({ id }) => id === 'workers.2')?.details ?? {};
  const figure = (name: string) => {
    const value = details[name];
    if (value === undefined) throw new Error(`the results of the workers have no ${name}`);
    return value;
  };
  return {
    apiMs: figure('api_cpu_ms'),
    workerMs: figure('workers_cpu_ms'),
    postgresMs: figure('postgres_cpu_ms'),
    temporalMs: figure('temporal_cpu_ms'),
    productBytes: bytesOf(results, 'product_bytes').highest,
    temporalBytes: bytesOf(results, 'temporal_bytes').highest,
    walBytes: bytesOf(results, 'wal_bytes').highest,
    temporalCommits: figure('temporal_commits'),
  };
}

export function capacityLines(results: BenchResults = clusterResults()): string[] {
  const costs = measuredCosts(results);
  const plans = VOLUMES.map((orders) => planFor(orders, costs));
  const [product, temporal, wal] = BYTES.map((name) => rangeText(bytesOf(results, name)));
  return [
    ...table(
      ['workers', 'orders/s', 'API', 'workers', 'PostgreSQL', 'Temporal', 'simulator', 'p50', 'p95'],
      results.scenarios.map(({ id, value, spread, details }) => [
        id.replace('workers.', ''),
        `${value} (${spread.min}–${spread.max})`,
        ...['api', 'workers', 'postgres', 'temporal', 'simulator'].map((name) => `${details[`${name}_cpu_ms`]} ms`),
        `${details['p50_ms']} ms`,
        `${details['p95_ms']} ms`,
      ]),
    ),
    '',
    `One order added ${product} to our database, ${temporal} to those of Temporal, and`,
    `${wal} of write-ahead log. The plan uses the highest figures.`,
    `The Temporal server makes ${costs.temporalCommits} commits for an order.`,
    '',
    ...planTable(plans),
    '',
    ...limitTable(costs),
  ];
}

function planTable(plans: readonly CapacityPlan[]): string[] {
  const outcomes = plans.map(({ parts, perSecond }) => simulate(parts, { perSecond, seconds: SECONDS, seed: SEED }));
  const row = (title: string, cell: (plan: CapacityPlan, place: number) => string) => [title, ...plans.map(cell)];
  const servers = (name: string) => (plan: CapacityPlan, place: number) => {
    const count = plan.parts.find((part) => part.name === name)?.servers ?? 0;
    return `${count} (${Math.round((outcomes[place]?.used[name] ?? 0) * 100)} %)`;
  };
  return table(
    ['orders a day', ...plans.map(({ ordersPerDay }) => ordersPerDay.toLocaleString('en'))],
    [
      row('orders a second in the busiest hour', ({ perSecond }) => rounded(perSecond)),
      row('API processes', servers('API')),
      row('workers', servers('worker')),
      row('cores of PostgreSQL, both databases', servers('PostgreSQL')),
      row('cores of the Temporal server', servers('Temporal')),
      row('purchase gate', servers('gate')),
      row('simulated time of an order, p50; p95', (_, place) => {
        const { p50Ms = 0, p95Ms = 0 } = outcomes[place] ?? {};
        return `${rounded(p50Ms)}; ${rounded(p95Ms)} ms`;
      }),
      row('history shards', ({ shards }) => String(shards)),
      row('our database, a month', ({ gigabytes }) => `${rounded(gigabytes.productAMonth)} GB`),
      row(
        `Temporal, at most (${ASSUMED.temporalRetentionDays} days)`,
        ({ gigabytes }) => `${rounded(gigabytes.temporalAtMost)} GB`,
      ),
      row('write-ahead log, a month', ({ gigabytes }) => `${rounded(gigabytes.walAMonth)} GB`),
    ],
  );
}

function limitTable(costs: OrderCosts): string[] {
  const parts = [
    { name: 'The purchase gate: claims wait for each other', servers: 1, serviceMs: 1_000 / ASSUMED.claimsPerSecond },
    { name: `PostgreSQL with ${LARGE} cores, both databases`, servers: LARGE, serviceMs: costs.postgresMs },
    { name: `A Temporal server with ${LARGE} cores`, servers: LARGE, serviceMs: costs.temporalMs },
  ].toSorted((left, right) => mostOrdersPerDay(left) - mostOrdersPerDay(right));
  return table(
    ['what does not grow by more processes', 'orders a day'],
    parts.map((part) => [part.name, Number(mostOrdersPerDay(part).toPrecision(2)).toLocaleString('en')]),
  );
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
}

function rangeText({ lowest, highest }: { readonly lowest: number; readonly highest: number }): string {
  const [from, to] = [rounded(lowest / 1e3), rounded(highest / 1e3)];
  return from === to ? `${to} kB` : `${from} to ${to} kB`;
}

function rounded(value: number): string {
  return String(Number(value.toPrecision(2)));
}

/** Measured by `npm run bench -- --only workers --cluster`. */
export interface OrderCosts {
  readonly apiMs: number;
  readonly workerMs: number;
  readonly postgresMs: number;
  readonly temporalMs: number;
  /** Databases and write-ahead log. */
  readonly productBytes: number;
  readonly temporalBytes: number;
  readonly walBytes: number;
  /** Each changes one history shard. */
  readonly temporalCommits: number;
}

/** Nobody measures these for you, except the claims a second (docs/benchmarks.md). */
export const ASSUMED = {
  /** The share of a day's orders: 2.4 times the average. */
  busiestHour: 0.1,
  /** Bursts and the loss of a machine must fit into the busiest hour. */
  mostUsed: 0.6,
  /** Share of the time in which a history shard may write. */
  mostUsedShard: 0.3,
  /** Goes over a network, with a synchronous replica. */
  commitMs: 5,
  /** One machine with API and worker may fail. */
  fewest: 2,
  /** Claims come one after the other, among 1,000,000 orders of the day: the scenario `scale`. */
  claimsPerSecond: 308,
  daysOfMonth: 30,
  /** Days (`platform/temporal/set-up.ts`). */
  temporalRetentionDays: 30,
} as const;

interface CapacityPlan {
  readonly ordersPerDay: number;
  readonly perSecond: number;
  /** API and workers by process, PostgreSQL and Temporal by core, the gate as one. */
  readonly parts: readonly Part[];
  readonly shards: number;
  /** GB (10^9 bytes). Temporal's is full after the retention; the others grow each month. */
  readonly gigabytes: Readonly<Record<'productAMonth' | 'temporalAtMost' | 'walAMonth', number>>;
}

export function planFor(ordersPerDay: number, costs: OrderCosts): CapacityPlan {
  const perSecond = (ordersPerDay * ASSUMED.busiestHour) / 3_600;
  const part = (name: string, serviceMs: number, fewest: number): Part => ({
    name,
    serviceMs,
    servers: Math.max(fewest, Math.ceil((perSecond * serviceMs) / 1_000 / ASSUMED.mostUsed)),
  });
  const aMonth = (bytes: number, days: number) => (ordersPerDay * days * bytes) / 1e9;
  const { daysOfMonth, temporalRetentionDays, fewest } = ASSUMED;
  return {
    ordersPerDay,
    perSecond,
    parts: [
      part('API', costs.apiMs, fewest),
      part('worker', costs.workerMs, fewest),
      part('PostgreSQL', costs.postgresMs, 1),
      part('Temporal', costs.temporalMs, 1),
      { name: 'gate', servers: 1, serviceMs: 1_000 / ASSUMED.claimsPerSecond },
    ],
    shards: shardsFor(perSecond, costs),
    gigabytes: {
      productAMonth: aMonth(costs.productBytes, daysOfMonth),
      temporalAtMost: aMonth(costs.temporalBytes, temporalRetentionDays),
      walAMonth: aMonth(costs.walBytes, daysOfMonth),
    },
  };
}

/** A part is then used no more than {@link ASSUMED}.mostUsed. */
export function mostOrdersPerDay({ servers, serviceMs }: Part): number {
  return ((servers * 1_000) / serviceMs) * ASSUMED.mostUsed * (3_600 / ASSUMED.busiestHour);
}

/** A power of two, and never fewer than a small cluster has. A shard makes one commit after the other. */
function shardsFor(perSecond: number, { temporalCommits }: OrderCosts): number {
  const busy = (perSecond * temporalCommits * ASSUMED.commitMs) / 1_000;
  return Math.max(16, 2 ** Math.ceil(Math.log2(busy / ASSUMED.mostUsedShard)));
}

interface Part {
  readonly name: string;
  readonly servers: number;
  /** On average, one order takes so much of one server. */
  readonly serviceMs: number;
}

interface Outcome {
  readonly orders: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly used: Readonly<Record<string, number>>;
}

/** Service times are exponential, which is worse than measured. The same seed gives the same result. */
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
    // An order that overtook another one is served first.
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

const DOCUMENT = join(import.meta.dirname, '../docs/capacity.md');

if (import.meta.main) {
  const text = readFileSync(DOCUMENT, 'utf8');
  const [before = '', after = ''] = text.split(/(?<=<!-- generated: begin -->\n)[^]*(?=<!-- generated: end -->)/);
  writeFileSync(DOCUMENT, `${before}\n${capacityLines().join('\n')}\n\n${after}`);
}
