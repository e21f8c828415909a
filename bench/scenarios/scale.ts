import { randomBytes, randomUUID } from 'node:crypto';
import { createBooksActivities } from '#activities/upkeep/books.ts';
import { createMaintenanceActivities } from '#activities/upkeep/upkeep-activities.ts';
import { createWorkActivities } from '#activities/work/work-activities.ts';
import { closedLoop } from '#bench/drivers/serve.ts';
import type { Limit, ScenarioResult } from '#bench/results.ts';
import type { BenchContext } from '#bench/support/context.ts';
import { compare, inTurn } from '#bench/support/figures.ts';
import { filledDatabase } from '#bench/support/filled-database.ts';
import { withClient } from '#cli/embedded/postgres.ts';
import { KeyRing } from '#crypto/key-ring.ts';
import { Database } from '#db/connection/database.ts';
import { newId } from '#db/connection/ids.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { acceptOrder } from '#fulfilment/accept/work.ts';
import { createLogger } from '#telemetry/logger.ts';
import type { ServiceClient } from '#upstream/client.ts';

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

interface Shop {
  readonly orders: number;
  readonly url: string;
  readonly database: Database;
  readonly activities: ReturnType<typeof openActivities>;
}

/** Claims, the sweep and the books must not get slower with the number of orders. */
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
  return compare({
    ...figure,
    id: `scale.${name}.among_${many}`,
    measured: `${figure.measured}; among ${many} orders of today`,
    ours: rounds[many] ?? [],
    peer: { id: `among_${few}`, measured: `the same among ${few}`, rounds: rounds[few] ?? [] },
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

/** The balance is more than can be spent. */
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

const PACKAGE = 1_001;
const PRICE = { amount: '2.40', currency: 'USD' } as const;
/** No limit is reached, but all are looked at. */
const HIGH = '1000000000';

function openActivities(database: Database) {
  const dependencies = {
    database,
    keyRing: new KeyRing([{ id: 'bench', key: randomBytes(32) }]),
    service: instantService(),
    sendLeaseMs: DEFAULT_POLICY.purchase.sendLeaseMs,
    purchaseInForce: async () => DEFAULT_POLICY.purchase,
    gate: { ...DEFAULT_POLICY.gate, spendLimit: { amount: HIGH, currency: PRICE.currency } },
    now: Date.now,
  };
  const logger = createLogger({ level: 'silent', name: 'bench' });
  const work = createWorkActivities(dependencies);
  const maintenance = createMaintenanceActivities({
    ...dependencies,
    reconcile: DEFAULT_POLICY.reconcile,
    sweep: DEFAULT_POLICY.sweep,
    webhookSilence: DEFAULT_POLICY.webhookSilence,
    logger,
    outbound: DEFAULT_POLICY.outbound,
    findRunning: async (pieces) => new Set(pieces.map(({ id }) => id)),
  });
  const books = createBooksActivities({
    ...dependencies,
    books: DEFAULT_POLICY.books,
    runway: DEFAULT_POLICY.runway,
    logger,
  });
  return {
    prepare: async (): Promise<() => Promise<void>> => {
      const order = { kind: 'order', id: newId('order') } as const;
      await database.transaction((tx) =>
        acceptOrder(
          tx,
          {
            id: order.id,
            apiKeyId: 'key_bench',
            externalOrderId: `bench-${randomUUID()}`,
            packageId: PACKAGE,
            metadata: {},
          },
          new Date(),
        ),
      );
      const { attempt } = await work.beginWork({ work: order });
      return async () => {
        await work.sendPurchase({ work: order, attemptId: attempt.id });
      };
    },
    sweep: async () => maintenance.requestIdleWork(),
    reconcileBooks: async () => books.reconcileBooks({ runId: randomUUID() }),
  };
}

/** There is no network: only ours is measured. */
function instantService(): ServiceClient {
  const at = new Date().toISOString();
  const calls = {
    listPackages: async () => ({
      ok: true,
      value: {
        complete: true,
        items: [
          {
            id: PACKAGE,
            name: 'Bench',
            countries: ['ES'],
            available: true,
            price_for_reseller: PRICE.amount,
            currency: PRICE.currency,
          },
        ],
      },
    }),
    createOrder: async ({ reference }: { readonly reference: string }) => {
      const id = `so_bench_${randomUUID()}`;
      return {
        ok: true,
        value: {
          id,
          external_order_id: reference,
          package_id: PACKAGE,
          status: 'completed',
          esim_id: `se_${id}`,
          price_for_reseller: PRICE.amount,
          currency: PRICE.currency,
          created_at: at,
        },
      };
    },
    getWallet: async () => ({ ok: true, value: { balance: HIGH, currency: PRICE.currency } }),
    listWalletTransactions: async () => ({ ok: true, value: { items: [], complete: true } }),
  };
  return new Proxy(calls, {
    get: (target, name) => {
      const call: unknown = Reflect.get(target, name);
      if (call === undefined) throw new Error(`the activities call ${String(name)}, which is not provided here`);
      return call;
    },
  }) as unknown as ServiceClient;
}
