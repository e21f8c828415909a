/** Each change is one transaction that may run twice. Crashes between them are the engine's part. */
import { createCipheriv, createHash, randomBytes, randomUUID } from 'node:crypto';
import pg from 'pg';
import { SCHEMA } from './shop-schema.ts';

/** Sent byte for byte. */
export interface Attempt {
  readonly id: string;
  readonly idempotencyKey: string;
  readonly body: string;
}

export interface Purchase {
  readonly id: string;
  readonly external_order_id: string;
  readonly status: 'processing' | 'completed' | 'failed';
  readonly esim_id: string | null;
  readonly price_for_reseller: string;
  readonly currency: string;
}

export interface Esim {
  readonly id: string;
  readonly iccid: string;
  readonly activation_code: string;
}

/** A new order's answer, or the stored bytes of a repetition. */
export type Accepted =
  | { readonly kind: 'new'; readonly id: string; readonly body: Buffer }
  | { readonly kind: 'repeated'; readonly body: Buffer }
  | { readonly kind: 'conflict' };

type Statement = readonly [name: string, text: string, values: readonly unknown[]];

export class Shop {
  readonly #pool: pg.Pool;
  readonly #key: Buffer;

  /** @param key 32 bytes. */
  constructor(databaseUrl: string, key: Buffer) {
    this.#pool = new pg.Pool({ connectionString: databaseUrl });
    this.#key = key;
  }

  async prepare(apiKey: string): Promise<void> {
    await this.#pool.query(SCHEMA);
    const row = ['key_bench', prefixOf(apiKey), sha256(apiKey)];
    await this.#pool.query('insert into api_keys values ($1, $2, $3) on conflict do nothing', row);
  }

  /** Undefined when the key is not ours. */
  async callerOf(apiKey: string): Promise<string | undefined> {
    const { rows } = await this.#pool.query<{ id: string; hash: Buffer }>({
      name: 'caller',
      text: 'select id, hash from api_keys where prefix = $1',
      values: [prefixOf(apiKey)],
    });
    return rows[0]?.hash.equals(sha256(apiKey)) ? rows[0].id : undefined;
  }

  async accept(
    apiKeyId: string,
    idempotencyKey: string,
    order: { readonly packageId: number; readonly reference: string },
  ): Promise<Accepted> {
    const id = `ord_${randomUUID()}`;
    const hash = sha256(JSON.stringify(order));
    const body = Buffer.from(
      JSON.stringify({ id, status: 'accepted', package_id: order.packageId, external_order_id: order.reference }),
    );
    return this.#transaction<Accepted>(async (run) => {
      const kept = await run([
        'keep_key',
        `insert into idempotency_keys (api_key_id, key, request_hash, response_body) values ($1, $2, $3, $4)
         on conflict do nothing`,
        [apiKeyId, idempotencyKey, hash, body],
      ]);
      if (kept.rowCount === 0) {
        const { rows } = await run([
          'kept_answer',
          'select request_hash, response_body from idempotency_keys where api_key_id = $1 and key = $2',
          [apiKeyId, idempotencyKey],
        ]);
        const row = rows[0] as { request_hash: Buffer; response_body: Buffer };
        return row.request_hash.equals(hash) ? { kind: 'repeated', body: row.response_body } : { kind: 'conflict' };
      }
      const inserted = await run([
        'insert_order',
        `insert into orders (id, api_key_id, external_order_id, package_id) values ($1, $2, $3, $4)
         on conflict (external_order_id) do nothing`,
        [id, apiKeyId, order.reference, order.packageId],
      ]);
      if (inserted.rowCount === 0) throw new ReferenceTaken();
      await run(noted(id, 'order.accepted', 'The order was accepted.'));
      await run(published(id, 'order.accepted', { status: 'accepted', package_id: order.packageId }));
      return { kind: 'new', id, body };
    }).catch((error: unknown) => {
      if (error instanceof ReferenceTaken) return { kind: 'conflict' };
      throw error;
    });
  }

  /** Called before the first send. The same call again gives the stored attempt. */
  async prepareAttempt(orderId: string): Promise<Attempt> {
    return this.#transaction(async (run) => {
      const { rows } = await run([
        'submitting',
        `update orders set status = 'submitting', updated_at = now()
         where id = $1 and status in ('accepted', 'submitting') returning package_id, external_order_id`,
        [orderId],
      ]);
      const order = rows[0] as { package_id: number; external_order_id: string };
      const idempotencyKey = sha256(`${orderId}/1`).toString('hex');
      const body = JSON.stringify({ package_id: order.package_id, external_order_id: order.external_order_id });
      const id = `att_${orderId.slice(4)}`;
      await run([
        'insert_attempt',
        `insert into attempts (id, order_id, number, idempotency_key, reference, encrypted_request_body, state)
         values ($1, $2, 1, $3, $4, $5, 'sending') on conflict do nothing`,
        [id, orderId, idempotencyKey, order.external_order_id, this.#encrypt(body)],
      ]);
      await run(noted(orderId, 'attempt.prepared', 'The attempt was stored.'));
      return { id, idempotencyKey, body };
    });
  }

  async recordPurchase(orderId: string, attempt: Attempt, purchase: Purchase): Promise<void> {
    await this.#transaction(async (run) => {
      await run([
        'record_attempt',
        `update attempts set state = $2, service_id = $3, service_esim_id = $4, charged_amount = $5,
           charged_currency = $6, last_report_at = now() where id = $1`,
        [attempt.id, purchase.status, purchase.id, purchase.esim_id, purchase.price_for_reseller, purchase.currency],
      ]);
      await run([
        'record_order',
        `update orders set status = 'processing', updated_at = now() where id = $1 and status = 'submitting'`,
        [orderId],
      ]);
      await run(noted(orderId, `service.${purchase.status}`, `The service reports ${purchase.status}.`));
    });
  }

  async deliver(orderId: string, attempt: Attempt, purchase: Purchase, esim: Esim): Promise<void> {
    const esimId = `esim_${orderId.slice(4)}`;
    await this.#transaction(async (run) => {
      await run([
        'insert_esim',
        `insert into esims (id, order_id, service_id, iccid, encrypted_activation_code) values ($1, $2, $3, $4, $5)
         on conflict do nothing`,
        [esimId, orderId, esim.id, esim.iccid, this.#encrypt(esim.activation_code)],
      ]);
      await run([
        'insert_journal',
        `insert into journal (cause_kind, cause_id, direction, amount, currency) values ('attempt', $1, 'debit', $2, $3)
         on conflict do nothing`,
        [attempt.id, purchase.price_for_reseller, purchase.currency],
      ]);
      await run([
        'complete_order',
        `update orders set status = 'completed', esim_id = $2, charged_amount = $3, charged_currency = $4,
           completed_at = now(), updated_at = now() where id = $1 and status <> 'completed'`,
        [orderId, esimId, purchase.price_for_reseller, purchase.currency],
      ]);
      await run(noted(orderId, 'order.completed', 'The eSIM was delivered.'));
      await run(published(orderId, 'order.completed', { status: 'completed', esim_id: esimId }));
    });
  }

  /** A person must decide. */
  async putAside(orderId: string, status: 'failed' | 'needs_attention'): Promise<void> {
    await this.#transaction(async (run) => {
      await run(['put_aside', 'update orders set status = $2, updated_at = now() where id = $1', [orderId, status]]);
      await run(published(orderId, `order.${status}`, { status }));
    });
  }

  /** @returns undefined when no order waits for it, or it is a repetition. */
  async receive(deliveryId: string, event: string, body: Buffer, reference: string | undefined): Promise<string | undefined> {
    const { rows } = await this.#pool.query<{ order_id: string }>({
      name: 'receive',
      text: `with stored as (
          insert into inbox (delivery_id, event, encrypted_body) values ($1, $2, $3)
          on conflict do nothing returning delivery_id)
        select order_id from attempts, stored where reference = $4 and state in ('sending', 'processing')`,
      values: [deliveryId, event, this.#encrypt(body), reference ?? ''],
    });
    return rows[0]?.order_id;
  }

  /** The process ended between the commit and the call of the engine. */
  async forgotten(): Promise<readonly string[]> {
    const { rows } = await this.#pool.query<{ id: string }>(
      `select id from orders where status = 'accepted' and updated_at < now() - interval '1 minute' limit 100`,
    );
    return rows.map(({ id }) => id);
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }

  #encrypt(text: string | Buffer): Buffer {
    const iv = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', this.#key, iv);
    return Buffer.concat([iv, cipher.update(text), cipher.final(), cipher.getAuthTag()]);
  }

  async #transaction<T>(work: (run: (statement: Statement) => Promise<pg.QueryResult<object>>) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect();
    try {
      await client.query('begin');
      const result = await work(([name, text, values]) => client.query<object>({ name, text, values: [...values] }));
      await client.query('commit');
      return result;
    } catch (error) {
      await client.query('rollback');
      throw error;
    } finally {
      client.release();
    }
  }
}

class ReferenceTaken extends Error {}

function noted(orderId: string, event: string, message: string): Statement {
  const text = 'insert into timeline (order_id, event, message) values ($1, $2, $3) on conflict do nothing';
  return ['note', text, [orderId, event, message]];
}

function published(orderId: string, type: string, data: object): Statement {
  return [
    'publish',
    `insert into events (id, type, order_id, api_key_id, data) select $1, $2, $3, api_key_id, $4 from orders where id = $3
     on conflict do nothing`,
    [`evt_${randomUUID()}`, type, orderId, data],
  ];
}

function prefixOf(apiKey: string): string {
  return apiKey.slice(0, 16);
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
