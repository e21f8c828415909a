import { apiCallDriver, Driver } from '#bench/drivers/protocol.ts';
import type { ScenarioResult } from '#bench/results.ts';
import { answersOk } from '#bench/support/children.ts';
import type { BenchContext } from '#bench/support/context.ts';
import { compare, inTurn, latencies, medians, rates } from '#bench/support/figures.ts';
import { filledDatabase } from '#bench/support/filled-database.ts';
import { benchSecrets, openDatabase } from '#bench/support/product.ts';
import { freePort } from '#cli/embedded/ports.ts';
import { productEnvironments } from '#cli/start/environment.ts';
import { generateApiKey } from '#crypto/generated-secrets.ts';
import { addApiKey, apiScopes } from '#db/access/api-keys.ts';

const SIZES = {
  full: { rounds: 5, few: 10_000, many: 1_000_000, reads: 1_000, pages: 300, orders: 500, atOnce: 16 },
  quick: { rounds: 1, few: 200, many: 2_000, reads: 60, pages: 20, orders: 40, atOnce: 8 },
} as const;

const LISTS = {
  page: '/v1/orders',
  statuses: '/v1/orders?status=held,needs_attention',
  of_package: '/v1/orders?package_id=1007',
  of_package_failed: '/v1/orders?package_id=1003&status=failed',
  updated: '/v1/orders?updated_after=',
  deep: '/v1/orders?created_before=',
} as const;

/** The peer is Express on the same tables; a second comparison is among many against among few. */
export async function measureApiOrders(context: BenchContext): Promise<ScenarioResult[]> {
  const size = SIZES[context.mode];
  const few = await startApi(context, 'few', size.few);
  const many = await startApi(context, 'many', size.many);
  const peer = await startPeer(context, many.databaseUrl);
  await using driver = new Driver(apiCallDriver);
  const run =
    (
      at: { origin: string },
      count: number,
      call: Parameters<typeof driver.run>[0]['call'],
      atOnce: number = size.atOnce,
    ) =>
    async () =>
      driver.run({ count, atOnce, origin: at.origin, apiKey: at === few ? few.apiKey : many.apiKey, call });
  const results: ScenarioResult[] = [];
  const take = (result: ScenarioResult) => {
    results.push(result);
    // A run among a million takes minutes.
    context.say(`api orders: ${result.id}: ratio ${result.ratio_to_peer?.value}`);
  };

  for (const [name, list] of Object.entries(LISTS)) {
    // The same number of orders meet it among few and many.
    const path = list.endsWith('=') ? `${list}${new Date(Date.now() - (size.few / 2) * 1_000).toISOString()}` : list;
    context.say(`api orders: ${path}, ${size.rounds} rounds of ${size.pages}, one at a time, among many and among few`);
    const call = { kind: 'get', paths: [path] } as const;
    const measured = await inTurn(
      { many: run(many, size.pages, call, 1), few: run(few, size.pages, call, 1) },
      size.rounds,
    );
    take(
      compare({
        id: `orders_list.${name}.among_few`,
        measured: `GET ${list}: median time of a page among ${size.many} orders`,
        unit: 'ms',
        better: 'lower',
        ours: medians(measured.many),
        peer: { id: 'among_few', measured: `the same among ${size.few}`, rounds: medians(measured.few) },
        limit: {
          of: 'ratio_to_peer',
          bound: 'at_most',
          amount: 1.2,
          reason:
            'A page is read from an index in the order of the list: an index a hundred times as large is hardly deeper.',
        },
        details: latencies(measured.many, 99),
      }),
    );
  }

  const [ids, idsOfFew] = [pathsAmong(size.many), pathsAmong(size.few)];
  context.say(
    `api orders: GET /v1/orders/{id}, ${size.rounds} rounds of ${size.reads}, one at a time, among many and among few`,
  );
  const single = await inTurn(
    {
      many: run(many, size.reads, { kind: 'get', paths: ids }, 1),
      few: run(few, size.reads, { kind: 'get', paths: idsOfFew }, 1),
    },
    size.rounds,
  );
  take(
    compare({
      id: 'orders_get.among_few',
      measured: `GET /v1/orders/{id}: median time among ${size.many} orders, of all ages`,
      unit: 'ms',
      better: 'lower',
      ours: medians(single.many),
      peer: { id: 'among_few', measured: `the same among ${size.few}`, rounds: medians(single.few) },
      limit: {
        of: 'ratio_to_peer',
        bound: 'at_most',
        amount: 1.2,
        reason:
          'One row and its attempts are found by unique indexes: those of a hundred times as many rows are hardly deeper.',
      },
      details: latencies(single.many, 99),
    }),
  );

  await requireSameAnswer(ids[0] ?? '', many, peer);
  const contests = [
    {
      id: 'orders_get.plain_express',
      measured: 'GET /v1/orders/{id}',
      count: size.reads,
      call: { kind: 'get', paths: ids },
      amount: 0.85,
      peer: 'Express, no key checked, the same statement prepared, the same JSON',
    },
    {
      id: 'orders_list.plain_express',
      measured: 'GET /v1/orders, a page of 20',
      count: size.pages,
      call: { kind: 'get', paths: ['/v1/orders'] },
      amount: 0.85,
      peer: 'Express, no key checked, the same statement prepared, the same JSON',
    },
    {
      id: 'orders_accept.plain_express',
      measured: 'POST /v1/orders to its 202',
      count: size.orders,
      call: { kind: 'order', packageId: 1001 },
      amount: 0.8,
      peer: 'Express, the same check of the key, the same rows in one transaction, nothing validated or encrypted',
    },
  ] as const;
  for (const { id, measured, count, call, amount, peer: does } of contests) {
    context.say(`api orders: ${measured}, ${size.rounds} rounds of ${count}, ${size.atOnce} at once`);
    const figures = await inTurn({ ours: run(many, count, call), peer: run(peer, count, call) }, size.rounds);
    take(
      compare({
        id,
        measured: `${measured}, ${size.atOnce} at once, among ${size.many} orders`,
        unit: 'calls/s',
        better: 'higher',
        ours: rates(figures.ours),
        peer: { id: 'plain_express', measured: does, rounds: rates(figures.peer) },
        limit: {
          of: 'ratio_to_peer',
          bound: 'at_least',
          amount,
          reason: 'What a caller is given beyond the bare answer may cost, but not much.',
        },
        details: latencies(figures.ours, 99),
      }),
    );
  }
  for (const { stop } of [few, many, peer]) await stop();
  return results;
}

function pathsAmong(orders: number): readonly string[] {
  const read = Math.min(500, orders);
  return Array.from(
    { length: read },
    (_, n) => `/v1/orders/ord_${String(1 + Math.floor((n * orders) / read)).padStart(26, '0')}`,
  );
}

/** @throws Error unless both answer the same JSON. */
async function requireSameAnswer(
  path: string,
  ours: { readonly origin: string; readonly apiKey: string },
  peer: { readonly origin: string },
): Promise<void> {
  const textOf = async (origin: string) =>
    (await fetch(origin + path, { headers: { authorization: `Bearer ${ours.apiKey}` } })).text();
  const [one, other] = await Promise.all([textOf(ours.origin), textOf(peer.origin)]);
  if (one !== other) throw new Error(`the answers differ:\n${one}\n${other}`);
}

async function startApi(context: BenchContext, name: string, orders: number) {
  const databaseUrl = await filledDatabase(context, { orders });
  const { key, prefix, hash } = generateApiKey();
  const database = openDatabase(databaseUrl);
  await database.run((db) => addApiKey(db, { name: 'bench', prefix, hash, scopes: apiScopes }));
  await database.close();
  const api = await freePort();
  const ports = { api, worker: 0, simulator: 1, temporal: 0, temporalUi: 0, codec: 0, postgres: 0 };
  const { api: environment } = productEnvironments(
    { ports, databaseUrl, temporalAddress: context.temporalAddress, simulatorData: '' },
    benchSecrets(),
    {},
  );
  const origin = `http://127.0.0.1:${api}`;
  const child = await context.children.start({
    name: `orders-api-${name}`,
    script: 'api/main.ts',
    environment: { ...environment, API_RATE_LIMIT: '1000000' },
    isReady: answersOk(`${origin}/readyz`),
  });
  return { origin, databaseUrl, apiKey: key, stop: () => context.children.stop(child) };
}

async function startPeer(context: BenchContext, databaseUrl: string) {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const child = await context.children.start({
    name: 'peer-order-handler',
    script: 'bench/peers/order-handler.ts',
    environment: { NODE_ENV: 'production', PORT: String(port), DATABASE_URL: databaseUrl },
    isReady: answersOk(`${origin}/healthz`),
  });
  return {
    origin,
    stop: async () => {
      await child.stop(5_000);
    },
  };
}
