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

/** The other rows of an order. All are of today, so that all count for the day. */
const REST: Readonly<Record<string, string>> = {
  gate_reservations: `
    insert into gate_reservations (attempt_id, api_key_id, day, amount, currency, made_at, covered_by_reading, is_over)
    select 'att_' || n, 'key_bench', (now() at time zone 'utc')::date, 2.4, 'USD', now(), 1, true
    from generate_series(1, $1::int) n`,
  journal: `
    insert into journal (direction, amount, currency, cause_kind, cause_id, recorded_at)
    select 'debit', 2.4, 'USD', 'attempt', 'att_' || n, now() - interval '24 hours' * ($1::int - n) / $1::int
    from generate_series(1, $1::int) n`,
  wallet_movements: `
    insert into wallet_movements (service_id, direction, amount, currency, reason, occurred_at, read_at, order_id, order_reference, cause_kind, cause_id, attempt_id)
    select 'mov_' || n, 'debit', 2.4, 'USD', 'order', now() - interval '1 hour', now(), 'so_' || n, 'ref-' || n, 'attempt', 'att_' || n, 'att_' || n
    from generate_series(1, $1::int) n`,
  timeline: `
    insert into timeline (subject_kind, subject_id, event, message, dedup_key)
    select 'order', 'ord_' || lpad(n::text, 26, '0'), 'order.completed', 'The eSIM was delivered.', 'order.completed'
    from generate_series(1, $1::int) n`,
  events: `
    insert into events (id, position, type, subject_kind, subject_id, api_key_id, data, occurred_at)
    select 'evt_' || n, n, 'order.completed', 'order', 'ord_' || lpad(n::text, 26, '0'), 'key_bench', '{"status": "completed"}', now() - (n || ' seconds')::interval
    from generate_series(1, $1::int) n`,
  esims: `
    insert into esims (id, order_id, service_esim_id, iccid, package_id, encrypted_activation_code, status, read_at, watch_due_at)
    select 'esim_' || lpad(n::text, 26, '0'), 'ord_' || lpad(n::text, 26, '0'), 'se_' || n, lpad(n::text, 20, '0'), 1000 + n % 50, 'x', 'available', now(), null
    from generate_series(1, $1::int) n`,
};

/** Each run has its own databases. */
const filled = new WeakMap<object, Map<number, { readonly url: string; rest: boolean }>>();

/** All scenarios of a run share it. @param rest also the other rows of each order. */
export async function filledDatabase(
  context: BenchServers,
  { orders, rest = false }: { readonly orders: number; readonly rest?: boolean },
): Promise<string> {
  const ofRun = filled.get(context.postgres) ?? new Map<number, { readonly url: string; rest: boolean }>();
  filled.set(context.postgres, ofRun);
  let database = ofRun.get(orders);
  if (database === undefined) {
    database = { url: await createProductDatabase(context, `filled_${orders}`), rest: false };
    ofRun.set(orders, database);
    await fill(context, database.url, orders, { orders: ORDERS, attempts: ATTEMPTS });
  }
  if (rest && !database.rest) {
    database.rest = true;
    await fill(context, database.url, orders, REST);
  }
  return database.url;
}

async function fill(
  context: BenchServers,
  url: string,
  orders: number,
  tables: Readonly<Record<string, string>>,
): Promise<void> {
  context.say(`rows: ${orders} each in ${Object.keys(tables).join(', ')}`);
  await withClient(url, async (client) => {
    for (const statement of Object.values(tables)) await client.query(statement, [orders]);
    await client.query('vacuum analyze');
  });
}
