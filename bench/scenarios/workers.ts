import * as z from 'zod';
import { differences, processesOf } from '#bench/counters/counters.ts';
import { cpuMs } from '#bench/counters/processes.ts';
import type { LoadResult } from '#bench/drivers/protocol.ts';
import type { ScenarioResult } from '#bench/results.ts';
import type { BenchContext } from '#bench/support/context.ts';
import { inTurn, latencies, measure, median, rates } from '#bench/support/figures.ts';
import { Orders } from '#bench/support/orders.ts';
import type { Product } from '#bench/support/product.ts';
import { withClient } from '#cli/embedded/postgres.ts';

const SIZES = {
  full: { workers: [1, 2, 4], rounds: 3, load: { count: 200, atOnce: 50 } },
  quick: { workers: [1, 2], rounds: 1, load: { count: 4, atOnce: 4 } },
} as const;

interface Round {
  readonly load: LoadResult;
  /** CPU milliseconds for one order; all workers are one part. */
  readonly cpu: Readonly<Record<string, number>>;
  readonly bytes: Readonly<Record<'product' | 'temporal' | 'wal', number>>;
  readonly temporalCommits: number;
}

/** `docs/capacity.md` uses it with `--cluster`. */
export async function measureWorkers(context: BenchContext): Promise<ScenarioResult[]> {
  const { workers, rounds, load } = SIZES[context.mode];
  const product = await context.product();
  await using orders = new Orders(product);
  context.say(`workers: ${rounds} rounds of ${load.count} orders, ${load.atOnce} at a time, by ${workers.join(', ')}`);
  const measured = await inTurn(
    Object.fromEntries(workers.map((count) => [String(count), async () => oneRound(context, product, orders, count)])),
    rounds,
  );
  await product.haveWorkers(1);
  return workers.map((count) => {
    const all = measured[String(count)] ?? [];
    return measure({
      id: `workers.${count}`,
      measured: `Orders to their delivery with ${count} workers, ${load.atOnce} under way; CPU and bytes of one order`,
      unit: 'orders/s',
      better: 'higher',
      values: rates(all.map((round) => round.load)),
      details: {
        ...latencies(
          all.map((round) => round.load),
          95,
        ),
        ...medianOf(all, 'cpu', '_cpu_ms'),
        ...medianOf(all, 'bytes', '_bytes'),
        temporal_commits: median(all.map(({ temporalCommits }) => temporalCommits)),
      },
    });
  });
}

async function oneRound(context: BenchContext, product: Product, orders: Orders, workers: number): Promise<Round> {
  const { load } = SIZES[context.mode];
  await product.haveWorkers(workers);
  const [sizes, cpu] = [await sizesOf(context, product), cpuMs(processesOf(context, product))];
  const result = await orders.run(load);
  const spent = differences(cpu, cpuMs(processesOf(context, product)));
  await orders.requireBooks();
  const grown = differences(sizes, await sizesOf(context, product));
  const perOrder = (amount: number | undefined) => (amount ?? 0) / load.count;
  const parts = Map.groupBy(Object.entries(spent), ([name]) => (name.startsWith('worker') ? 'workers' : name));
  return {
    load: result,
    cpu: Object.fromEntries(
      [...parts].map(([part, of]) => [part, perOrder(of.reduce((sum, [, ms]) => sum + ms, 0))] as const),
    ),
    bytes: {
      product: perOrder(grown['product']),
      temporal: perOrder(grown['temporal']),
      wal: perOrder(grown['wal']),
    },
    temporalCommits: perOrder(grown['temporalCommits']),
  };
}

const size = z.tuple([z.object({ bytes: z.coerce.number() })]);

async function sizesOf({ temporalDatabases }: BenchContext, { databaseUrl }: Product) {
  return withClient(databaseUrl, async (client) => {
    const read = async (expression: string, values: readonly string[] = []) =>
      size.parse((await client.query(`select ${expression} as bytes /* bench */`, [...values])).rows)[0].bytes;
    let temporal = 0;
    for (const database of temporalDatabases) temporal += await read('pg_database_size($1)', [database]);
    const commits = 'coalesce(sum(xact_commit), 0)::bigint';
    const temporalCommits = await read(
      `(select ${commits} from pg_stat_database where datname = any(string_to_array($1, ',')))`,
      [temporalDatabases.join(',')],
    );
    return {
      temporalCommits,
      product: await read('pg_database_size(current_database())'),
      temporal,
      wal: await read("pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')"),
    };
  });
}

function medianOf(rounds: readonly Round[], of: 'cpu' | 'bytes', unit: string): Record<string, number> {
  const names = Object.keys(rounds[0]?.[of] ?? {});
  const valuesOf = (name: string) =>
    rounds.map((round) => Object.entries(round[of]).find(([key]) => key === name)?.[1] ?? 0);
  return Object.fromEntries(names.map((name) => [`${name}${unit}`, median(valuesOf(name))]));
}
