/** The tables of `docs/capacity.md`, from the measured costs of an order. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ASSUMED, mostOrdersPerDay, planFor, type CapacityPlan, type OrderCosts } from '#bench/capacity/plan.ts';
import { simulate } from '#bench/capacity/queue.ts';
import { benchResults, type BenchResults } from '#bench/results.ts';

const RESULTS = join(import.meta.dirname, '../results');
const VOLUMES = [100_000, 1_000_000, 10_000_000] as const;
const SEED = 20_301;
/** A part of the busiest hour; longer ones give the same figures. */
const SECONDS = 600;
/** Cores of a large database server. */
const LARGE = 32;

/** The results of `npm run bench -- --only workers --cluster`. @throws ZodError for another format. */
function clusterResults(): BenchResults {
  return benchResults.parse(JSON.parse(readFileSync(join(RESULTS, 'cluster/cluster.json'), 'utf8')));
}

/** Bytes of one order in each row of the results. How much one run adds depends on when PostgreSQL cleans up. */
const BYTES = ['product_bytes', 'temporal_bytes', 'wal_bytes'] as const;

function bytesOf({ scenarios }: BenchResults, name: (typeof BYTES)[number]): { lowest: number; highest: number } {
  const found = scenarios.flatMap(({ details }) => details[name] ?? []);
  if (found.length === 0) throw new Error(`the results of the workers have no ${name}`);
  return { lowest: Math.min(...found), highest: Math.max(...found) };
}

/**
 * The costs of an order: the time with two workers, and the most bytes of any row. @throws Error when a figure is
 * missing.
 */
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

/** The generated part of the document, as lines of Markdown. */
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
