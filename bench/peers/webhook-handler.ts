/** With `DATABASE_URL` each delivery is one INSERT; without, it is only verified. */
import express from 'express';
import pg from 'pg';
import { isAuthentic } from './authentic.ts';

const { PORT, WEBHOOK_SECRET, DATABASE_URL } = process.env;
if (PORT === undefined || WEBHOOK_SECRET === undefined) throw new Error('PORT and WEBHOOK_SECRET are needed');

// The pool's default size is the product's default, too.
const pool = DATABASE_URL === undefined ? undefined : new pg.Pool({ connectionString: DATABASE_URL });
await pool?.query(
  `create table if not exists deliveries (
     delivery_id text primary key,
     event text,
     body bytea not null,
     received_at timestamptz not null default now()
   )`,
);

const app = express();
app.get('/healthz', (_request, response) => void response.json({ status: 'ok' }));
app.post('/webhooks/service', express.raw({ type: () => true }), async (request, response) => {
  const body: unknown = request.body;
  const deliveryId = request.get('X-Service-Delivery');
  if (!Buffer.isBuffer(body) || deliveryId === undefined) {
    return void response.status(400).json({ error: 'a body and a delivery id are needed' });
  }
  const signature = request.get('X-Service-Signature') ?? '';
  if (!isAuthentic(WEBHOOK_SECRET, body, request.get('X-Service-Timestamp') ?? '', signature)) {
    return void response.status(401).json({ error: 'invalid signature' });
  }
  const inserted = await pool?.query(
    'insert into deliveries (delivery_id, event, body) values ($1, $2, $3) on conflict do nothing',
    [deliveryId, request.get('X-Service-Event'), body],
  );
  response.json({ result: inserted?.rowCount === 0 ? 'duplicate' : 'accepted' });
});
app.listen(Number(PORT), '127.0.0.1');
