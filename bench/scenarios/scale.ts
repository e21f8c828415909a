import { closedLoop } from '#bench/drivers/serve.ts';
import type { Limit, ScenarioResult } from '#bench/results.ts';
import { compare } from '#bench/support/comparison.ts';
import type { BenchContext } from '#bench/support/context.ts';
import { filledDatabase } from '#bench/support/filled-database.ts';
import { openActivities } from '#bench/support/own-activities.ts';
import { inTurn } from '#bench/support/rounds.ts';
import { median } from '#bench/support/statistics.ts';
import { withClient } from '#cli/embedded/postgres.ts';
import { Database } from '#db/connection/database.ts';

const SIZES = {
  full: { orders: [10_000, 100_000, 1_000_000], rounds: 5, claims: 60, atOnce: 10 },
  quick: { orders: [200, 1_000, 2_000], rounds: 1, claims: 10, atOnce: 5 },
} as const;
const POOL_SIZE = 10;

const CLAIMS: Limit = {
  of: 'ratio_to_peer',
  bound: 'at_least',
  amount: 0.9,
  reason: 'A claim needs sums of the day, not the rows of the day.',
};

/** One database with so many orders, and our activities on it. */
interface Shop {
  readonly orders: number;
  readonly url: string;
  readonly database: Database;
  readonly activities: ReturnType<typeof openActivities>;
}

/**
 * Work that must not get slower with the number of orders: claims, the sweep and the books, among as many orders of
 * today. The activities run in this process, with a service that answers at once.
 */
export async function measureScale(context: BenchContext): Promise<ScenarioResult[]> {
  const { orders, rounds, claims, atOnce } = SIZES[context.mode];
  const shops: Shop[] = [];
  try {
    for (const count of orders) shops.push(await openShop(context, count));
    const inEach = <Figure>(measure: (shop: Shop) => Promise<Figure>) =>
      Object.fromEntries(shops.map((shop) => [String(shop.orders), async () => measure(shop)]));
    context.say(`scale: ${rounds} rounds of ${claims} claims, ${atOnce} at once, among ${orders.join(', ')} orders`);
    const claimed = await inTurn(
      inEach(async (shop) => claimsPerSecond(shop, { count: claims, atOnce })),
      rounds,
    );
    context.say(`scale: ${rounds} sweeps and reconciliations of the books among ${orders.join(', ')} orders`);
    const swept = await inTurn(
      inEach(async ({ activities }) => msOf(activities.sweep)),
      rounds,
    );
    const reconciled = await inTurn(
      inEach(async ({ activities }) => msOf(activities.reconcileBooks)),
      rounds,
    );
    return orders.slice(1).flatMap((count) => {
      const among = { few: String(orders[0]), many: String(count) };
      return [
        amongMany('claims', claimed, among, {
          measured: 'Purchases claimed and sent in a second: gate, daily limit, reservation, lease and result',
          unit: 'claims/s',
          better: 'higher',
          limit: CLAIMS,
        }),
        amongMany('sweep', swept, among, {
          measured: 'Time of one sweep; 2 of 1,000 orders are unfinished',
          unit: 'ms',
          better: 'lower',
        }),
        amongMany('books', reconciled, among, {
          measured: 'Time of one reconciliation of the books, of which the wallet shows nothing new',
          unit: 'ms',
          better: 'lower',
        }),
      ];
    });
  } finally {
    for (const { database } of shops) await database.close();
  }
}

function amongMany(
  name: string,
  rounds: Readonly<Record<string, readonly number[]>>,
  { few, many }: { readonly few: string; readonly many: string },
  figure: Pick<ScenarioResult, 'measured' | 'unit' | 'better'> & { readonly limit?: Limit },
): ScenarioResult {
  const points = Object.entries(rounds).map(([orders, values]): [number, number] => [Number(orders), median(values)]);
  return compare({
    ...figure,
    id: `scale.${name}.among_${many}`,
    measured: `${figure.measured}; among ${many} orders of today`,
    ours: rounds[many] ?? [],
    peer: { id: `among_${few}`, measured: `the same among ${few}`, rounds: rounds[few] ?? [] },
    series: { ours: points },
  });
}

async function openShop(context: BenchContext, orders: number): Promise<Shop> {
  const url = await filledDatabase(context, { orders, rest: true });
  const database = new Database({
    url,
    poolSize: POOL_SIZE,
    applicationName: 'bench-activities',
    onConnectionError: () => undefined,
  });
  return { orders, url, database, activities: openActivities(database) };
}

/** @throws Error unless each claim has reserved its price. */
async function claimsPerSecond(
  { url, activities }: Shop,
  load: { readonly count: number; readonly atOnce: number },
): Promise<number> {
  await readWallet(url);
  const before = await reservations(url);
  const sends: (() => Promise<void>)[] = [];
  for (let prepared = 0; prepared < load.count; prepared += 1) sends.push(await activities.prepare());
  const { elapsedMs } = await closedLoop(load, async (number) => sends[number - 1]?.());
  const reserved = (await reservations(url)) - before;
  if (reserved !== load.count) throw new Error(`${load.count} purchases were claimed, and ${reserved} reserved`);
  return load.count / (elapsedMs / 1_000);
}

/** A balance that was read just now, with more money than can be spent. */
async function readWallet(url: string): Promise<void> {
  await withClient(url, async (client) =>
    client.query(
      `insert into gate_wallet (singleton, reads_started, reading, balance_amount, balance_currency, read_at)
       values (true, 1, 1, 1000000000, 'USD', now())
       on conflict (singleton) do update set reads_started = gate_wallet.reads_started + 1,
         reading = gate_wallet.reads_started + 1, balance_amount = 1000000000, balance_currency = 'USD', read_at = now()`,
    ),
  );
}

async function reservations(url: string): Promise<number> {
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ count: string }>('select count(*) from gate_reservations');
    return Number(rows[0]?.count);
  });
}

async function msOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}
