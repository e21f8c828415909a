import type { BenchServers } from '#bench/support/context.ts';
import { createProductDatabase } from '#bench/support/product.ts';
import { withClient } from '#cli/embedded/postgres.ts';

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

export async function filledDatabase(context: BenchServers, orders: number): Promise<string> {
  const url = await createProductDatabase(context, `filled_${orders}`);
  context.say(`rows: ${orders} orders and attempts`);
  await withClient(url, async (client) => {
    for (const statement of [ORDERS, ATTEMPTS]) await client.query(statement, [orders]);
    await client.query('vacuum analyze');
  });
  return url;
}
