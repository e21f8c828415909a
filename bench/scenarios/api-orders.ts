import { Driver } from '#bench/drivers/protocol.ts';
import { compare, inTurn, latencies, medians, rates, type ScenarioResult } from '#bench/results.ts';
import type { BenchContext } from '#bench/support/context.ts';
import { addKey, createProductDatabase, startApi, startPeer } from '#bench/support/product.ts';
import { withClient } from '#cli/embedded/postgres.ts';

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

const SAME_READ = 'Express, no key checked, the same statement prepared, the same JSON';
const SAME_WRITE =
  'Express, the same check of the key, the same rows in one transaction, nothing validated or encrypted';

/** The peer is Express on the same tables; a second comparison is among many against among few. */
export async function measureApiOrders(context: BenchContext): Promise<ScenarioResult[]> {
  const size = SIZES[context.mode];
  const few = await startOurs(context, 'few', size.few);
  const many = await startOurs(context, 'many', size.many);
  const peer = await startPeer(context, 'peer-order-handler', 'bench/peers/order-handler.ts', {
    DATABASE_URL: many.databaseUrl,
  });
  await using driver = new Driver('api-calls');
  type Call = Parameters<typeof driver.run>[0]['call'];
  const run = (at: { readonly origin: string }, count: number, call: Call, atOnce: number) => async () =>
    driver.run({ count, atOnce, origin: at.origin, apiKey: at === few ? few.apiKey : many.apiKey, call });
  const results: ScenarioResult[] = [];
  const take = (comparison: Parameters<typeof compare>[0]) => {
    const result = compare(comparison);
    results.push(result);
    // A run among a million takes minutes.
    context.say(`api orders: ${result.id}: ratio ${result.ratio_to_peer?.value}`);
  };

  const [ids, idsOfFew] = [pathsAmong(size.many), pathsAmong(size.few)];
  const reads = [
    ...Object.entries(LISTS).map(([name, list]) => {
      // The same number of orders meet it among few and many.
      const path = list.endsWith('=') ? `${list}${new Date(Date.now() - (size.few / 2) * 1_000).toISOString()}` : list;
      const measured = `GET ${list}: median time of a page`;
      return { id: `orders_list.${name}`, measured, count: size.pages, many: [path], few: [path] };
    }),
    { id: 'orders_get', measured: 'GET /v1/orders/{id}: median time', count: size.reads, many: ids, few: idsOfFew },
  ];
  for (const { id, measured, count, ...paths } of reads) {
    context.say(`api orders: ${id}, ${size.rounds} rounds of ${count}, one at a time, among many and among few`);
    const among = {
      many: run(many, count, { kind: 'get', paths: paths.many }, 1),
      few: run(few, count, { kind: 'get', paths: paths.few }, 1),
    };
    const figures = await inTurn(among, size.rounds);
    take({
      id: `${id}.among_few`,
      measured: `${measured} among ${size.many} orders`,
      unit: 'ms',
      better: 'lower',
      ours: medians(figures.many),
      peer: { id: 'among_few', measured: `the same among ${size.few}`, rounds: medians(figures.few) },
      details: latencies(figures.many, 99),
    });
  }

  await requireSameAnswer(ids[0] ?? '', many.apiKey, [many.origin, peer.origin]);
  const contests: readonly (readonly [id: string, measured: string, count: number, call: Call])[] = [
    ['orders_get', 'GET /v1/orders/{id}', size.reads, { kind: 'get', paths: ids }],
    ['orders_list', 'GET /v1/orders, a page of 20', size.pages, { kind: 'get', paths: ['/v1/orders'] }],
    ['orders_accept', 'POST /v1/orders to its 202', size.orders, { kind: 'order', packageId: 1001 }],
  ];
  for (const [id, measured, count, call] of contests) {
    context.say(`api orders: ${measured}, ${size.rounds} rounds of ${count}, ${size.atOnce} at once`);
    const both = { ours: run(many, count, call, size.atOnce), peer: run(peer, count, call, size.atOnce) };
    const figures = await inTurn(both, size.rounds);
    const does = call.kind === 'get' ? SAME_READ : SAME_WRITE;
    take({
      id: `${id}.plain_express`,
      measured: `${measured}, ${size.atOnce} at once, among ${size.many} orders`,
      unit: 'calls/s',
      better: 'higher',
      ours: rates(figures.ours),
      peer: { id: 'plain_express', measured: does, rounds: rates(figures.peer) },
      details: latencies(figures.ours, 99),
    });
  }
  for (const { stop } of [few, many, peer]) await stop();
  return results;
}

async function startOurs(context: BenchContext, name: string, orders: number) {
  const databaseUrl = await filledDatabase(context, orders);
  const apiKey = await addKey(databaseUrl);
  return { ...(await startApi(context, `orders-api-${name}`, { databaseUrl })), databaseUrl, apiKey };
}

function pathsAmong(orders: number): readonly string[] {
  const read = Math.min(500, orders);
  const numbers = Array.from({ length: read }, (_, n) => 1 + Math.floor((n * orders) / read));
  return numbers.map((number) => `/v1/orders/ord_${String(number).padStart(26, '0')}`);
}

/** @throws Error unless both answer the same JSON. */
async function requireSameAnswer(path: string, apiKey: string, origins: readonly string[]): Promise<void> {
  const headers = { authorization: `Bearer ${apiKey}` };
  const textOf = async (origin: string) => (await fetch(origin + path, { headers })).text();
  const [one, other] = await Promise.all(origins.map(textOf));
  if (one !== other) throw new Error(`the answers differ:\n${one}\n${other}`);
}

/** As in an old shop, nearly all is done, and unfinished orders are spread over all ages. */
const ORDERS = `
  insert into orders (id, api_key_id, external_order_id, package_id, status, failure_class, attention_reason, esim_id, created_at, updated_at, completed_at)
  select 'ord_' || lpad(n::text, 26, '0'), 'key_bench', 'ref-' || n, 1000 + n % 50,
    case when n % 1000 = 1 then 'held' when n % 1000 = 2 then 'needs_attention' when n % 50 = 3 then 'failed' else 'completed' end,
    case when n % 1000 = 1 then 'timeout' end, case when n % 1000 = 2 then 'outcome_unknown' end,
    'esim_' || lpad(n::text, 26, '0'), now() - (n || ' seconds')::interval, now() - (n || ' seconds')::interval, now() - (n || ' seconds')::interval
  from generate_series(1, $1::int) n`;
const ATTEMPTS = `
  insert into attempts (id, subject_kind, subject_id, number, idempotency_key, reference, encrypted_request_body, state, service_id, created_at)
  select 'att_' || n, 'order', 'ord_' || lpad(n::text, 26, '0'), 1, 'key-' || n, 'ref-' || n, 'x', 'completed', 'so_' || n, now()
  from generate_series(1, $1::int) n`;

async function filledDatabase(context: BenchContext, orders: number): Promise<string> {
  const url = await createProductDatabase(context, `filled_${orders}`);
  context.say(`rows: ${orders} orders and attempts`);
  await withClient(url, async (client) => {
    for (const statement of [ORDERS, ATTEMPTS]) await client.query(statement, [orders]);
    await client.query('vacuum analyze');
  });
  return url;
}
