/** Accepts orders with our check of the API key and our rows. Reads check no key, and nothing is validated. */
import { randomUUID } from 'node:crypto';
import { getTableColumns } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import express from 'express';
import pg from 'pg';
import { orderJson } from '#api/orders/orders.ts';
import { plainWork } from '#api/work/expand.ts';
import { matchesApiKey, parseApiKey } from '#crypto/generated-secrets.ts';
import type { Executor } from '#db/connection/database.ts';
import { newId } from '#db/connection/ids.ts';
import { orderReads, type StoredOrder } from '#db/work/orders.ts';
import * as schema from '#db/schema.ts';

const { PORT, DATABASE_URL } = process.env;
if (PORT === undefined || DATABASE_URL === undefined) throw new Error('PORT and DATABASE_URL are needed');
// The pool's default size is the product's default, too.
const pool = new pg.Pool({ connectionString: DATABASE_URL });

/** Our own query, taken down once as a prepared statement. */
const page = await statementOf((db) => orderReads.page(db, undefined, {}, { limit: 21 }));
const one = await statementOf((db) => orderReads.find(db, 'ord_', undefined));
const COLUMNS = Object.keys(getTableColumns(schema.orders));

const app = express();
app.get('/healthz', (_request, response) => void response.json({ status: 'ok' }));
app.get('/v1/orders/:id', async (request, response) => {
  const values = one.params.map((value) => (value === 'ord_' ? request.params.id : value));
  const { rows } = await pool.query<unknown[]>({ name: 'one', text: one.sql, values, rowMode: 'array' });
  if (rows[0] === undefined) return void response.status(404).end();
  response.json(plainWork(orderJson(viewOf(rows[0]), null)));
});
app.get('/v1/orders', async (_request, response) => {
  const { rows } = await pool.query<unknown[]>({ name: 'page', text: page.sql, values: page.params, rowMode: 'array' });
  const found = rows.slice(0, 20).map((row) => orderJson(viewOf(row), null));
  response.json({ data: found.map(plainWork), next_cursor: rows.length > 20 ? Buffer.from(String(found.at(-1)?.id)).toString('base64url') : null });
});
app.post('/v1/orders', express.json(), async (request, response) => {
  const apiKeyId = await callerOf(request.get('Authorization'));
  if (apiKeyId === undefined) return void response.status(401).end();
  const { package_id: packageId, external_order_id: reference } = request.body as { package_id: number; external_order_id: string };
  const id = newId('order');
  const now = new Date();
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const { rows } = await client.query<unknown[]>({
      name: 'order', rowMode: 'array',
      text: `insert into orders (id, api_key_id, external_order_id, package_id, created_at, updated_at) values ($1, $2, $3, $4, $5, $5)
        on conflict do nothing returning ${COLUMNS.map((name) => `"${getTableColumns(schema.orders)[name as 'id'].name}"`).join(', ')}`,
      values: [id, apiKeyId, reference, packageId, now],
    });
    await client.query({ name: 'outbox', text: `insert into outbox (topic, subject_kind, subject_id) values ('start_work', 'order', $1)`, values: [id] });
    await client.query({
      name: 'timeline',
      text: `insert into timeline (subject_kind, subject_id, at, event, message, detail, dedup_key) values ('order', $1, $2, 'order.accepted', $3, $4, 'order.accepted')`,
      values: [id, now, 'The order was accepted and stored; its workflow is about to start.', { package_id: packageId }],
    });
    await client.query({
      name: 'event',
      text: `insert into events (id, type, subject_kind, subject_id, api_key_id, data, occurred_at) values ($1, 'order.accepted', 'order', $2, $3, $4, $5)`,
      values: [newId('event'), id, apiKeyId, { status: 'accepted', previous_status: null, external_order_id: reference, package_id: packageId, esim_id: null, failure_class: null, attention_reason: null, charged: null }, now],
    });
    const answer = plainWork(orderJson(viewOf([...(rows[0] ?? []), 0, null, [], false]), null));
    const body = Buffer.from(JSON.stringify(answer));
    await client.query({
      name: 'answer',
      text: `insert into idempotency_keys (api_key_id, key, request_hash, response_status, response_headers, encrypted_response_body, created_at) values ($1, $2, $3, 202, $4, $5, $6)`,
      values: [apiKeyId, request.get('Idempotency-Key') ?? randomUUID(), Buffer.alloc(32), { Location: `/v1/orders/${id}` }, body, now],
    });
    await client.query('COMMIT');
    response.status(202).set('Location', `/v1/orders/${id}`).type('json').send(body);
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
});
app.listen(Number(PORT), '127.0.0.1');

async function callerOf(authorization: string | undefined): Promise<string | undefined> {
  const presented = authorization?.slice('Bearer '.length) ?? '';
  const { rows } = await pool.query<{ id: string; hash: Buffer }>({ name: 'key', text: 'select * from api_keys where prefix = $1', values: [parseApiKey(presented)?.prefix] });
  return rows[0] !== undefined && matchesApiKey(presented, rows[0].hash) ? rows[0].id : undefined;
}

function viewOf(row: readonly unknown[]): StoredOrder {
  const stored = Object.fromEntries(COLUMNS.map((name, place) => [name, row[place]]));
  const [attempts, serviceId, attemptStates, inDoubt] = row.slice(COLUMNS.length);
  // As our own queries select them, in this order.
  return { row: stored, attempts, serviceId, attemptStates, inDoubt } as unknown as StoredOrder;
}

async function statementOf(run: (db: Executor) => Promise<unknown>): Promise<{ sql: string; params: unknown[] }> {
  const noted: { sql: string; params: unknown[] }[] = [];
  await run(drizzle(pool, { logger: { logQuery: (sql, params) => void noted.push({ sql, params }) } }));
  const [first] = noted;
  if (first === undefined) throw new Error('our query sent nothing');
  return first;
}
