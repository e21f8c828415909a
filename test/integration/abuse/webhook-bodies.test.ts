/** Senders who start bodies and never end them, or leave before their answer. */
import { connect, type Socket } from 'node:net';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { InFlight } from '#api/access/limits.ts';
import { BATCH_BODY_LIMIT } from '#api/order-batches/batch-schemas.ts';
import { newId } from '#db/connection/ids.ts';
import { AT_ONCE, AUTHENTICATED_BODY_BYTES, UNAUTHENTICATED_BODIES } from '#domain/policy/api-policy.ts';
import { callOperation } from '#test/support/api/call-operation.ts';
import { waitingCallers } from '#test/support/api/waiting-calls.ts';
import { startTestApi, TEST_NOW } from '#test/support/network/api.ts';
import { rawRequest } from '#test/support/network/raw-http.ts';
import { waitFor } from '#test/support/wait-for.ts';

const running = { file: new InFlight(), many: new InFlight() };
const api = await startTestApi({ running });
afterAll(() => api[Symbol.asyncDispose]());

const FRESH = { 'X-Service-Timestamp': String(TEST_NOW / 1_000), 'X-Service-Signature': `v1=${'0'.repeat(64)}` };

/** A request with a body that starts and does not end. */
class SlowRequest {
  answer = '';
  readonly #socket: Socket;

  constructor(headers: Record<string, string | undefined>, sent: number, path = '/webhooks/service') {
    const { hostname, port } = new URL(api.baseUrl);
    const lines = Object.entries({ 'Content-Length': '200001', ...headers }).flatMap(([name, value]) =>
      value === undefined ? [] : [`${name}: ${value}`],
    );
    this.#socket = connect(Number(port), hostname);
    this.#socket.on('error', () => undefined);
    this.#socket.on('data', (chunk: Buffer) => void (this.answer += chunk.toString('latin1')));
    this.#socket.write(rawRequest(`POST ${path}`, lines));
    if ('Transfer-Encoding' in headers) this.#socket.write('10000000\r\n');
    if (sent > 0) this.#socket.write(Buffer.alloc(sent, 'a'));
  }

  get status(): number | undefined {
    const found = /^HTTP\/1\.1 (\d{3})/.exec(this.answer)?.[1];
    return found === undefined ? undefined : Number(found);
  }

  end(): void {
    this.#socket.destroy();
  }
}

const answered = (status: number, deliveries: readonly SlowRequest[]) =>
  deliveries.filter((each) => each.status === status).length;

describe('an endless webhook delivery', () => {
  it.each([
    ['no signature', { 'X-Service-Timestamp': FRESH['X-Service-Timestamp'] }],
    ['no timestamp', { 'X-Service-Signature': FRESH['X-Service-Signature'] }],
    ['an old timestamp', { ...FRESH, 'X-Service-Timestamp': String(TEST_NOW / 1_000 - 301) }],
    ['a malformed signature', { ...FRESH, 'X-Service-Signature': 'v1=abc' }],
    ['nothing', {}],
  ])('is refused before its body with %s', async (_, headers) => {
    const delivery = new SlowRequest(headers, 0);
    onTestFinished(() => delivery.end());
    expect(await waitFor('it is answered', () => delivery.status)).toBe(401);
  });

  it('uses a limited place: most of 800 from one address are refused, and the service is served', async () => {
    const deliveries = Array.from({ length: 800 }, () => new SlowRequest(FRESH, 200_000));
    try {
      await waitFor(
        'all but those that have a place are answered',
        async () => answered(429, deliveries) === 800 - UNAUTHENTICATED_BODIES.perSender,
      );
      expect(answered(401, deliveries)).toBe(0);
    } finally {
      for (const delivery of deliveries) delivery.end();
    }
    await waitFor('the service is served', async () => (await api.deliver({ body: { event: 'ping' } })).status === 200);
  });
});

describe('an endless body of an API key', () => {
  it.each([
    ['of its length', { 'Content-Length': String(BATCH_BODY_LIMIT) }],
    ['without a length', { 'Content-Length': undefined, 'Transfer-Encoding': 'chunked' }],
  ])('%s uses memory that is limited for each key, and gives it back with its connection', async (_, form) => {
    const [one, other] = [await api.caller(), await api.caller()];
    const headers = { ...one.headers, 'Content-Type': 'application/json', ...form };
    const places = Math.floor(AUTHENTICATED_BODY_BYTES.perSender / BATCH_BODY_LIMIT);
    const requests = Array.from({ length: 120 }, () => new SlowRequest(headers, 100_000, '/v1/order-batches'));
    const order = async (by: typeof one) => by.post('/v1/orders', {}, { headers: { 'Idempotency-Key': 'x' } });
    try {
      await waitFor('the others are refused', async () => answered(429, requests) === 120 - places);
      expect((await order(other)).status, 'another key').toBe(400);
    } finally {
      for (const request of requests) request.end();
    }
    await waitFor('the key is served', async () => (await order(one)).status === 400);
  });
});

describe('a connection that breaks while its request waits for PostgreSQL', () => {
  const batch = (n: number) => JSON.stringify({ external_batch_id: `left-${n}`, items: [{ package_id: 101 }] });
  const codes = `GET /v1/order-batches/${newId('orderBatch')}/qr-codes.zip`;
  it.each([
    ['a read', 'orders', 3, () => `GET /v1/orders/${newId('order')}`],
    ['a stream', 'events', 3, () => 'GET /v1/events/stream'],
    ['a file', 'orders', AT_ONCE.file, () => 'GET /v1/orders.csv'],
    ['a file of codes', 'order_batches', AT_ONCE.file, () => codes],
    ['a call about many', 'order_batches', 3, (n: number) => `POST /v1/order-batches ${batch(n)}`],
    // They wait for one read.
    ['a wait', 'orders', 1, () => `GET /v1/orders/${newId('order')}?wait=50`],
  ])('gives back the place of %s', async (_, table, count, request) => {
    const by = await api.caller();
    const id = (await by.get('/v1/key')).textAt('id');
    const { hostname, port } = new URL(api.baseUrl);
    const send = (n: number) => {
      const [method = '', path = '', ...body] = request(n).split(' ');
      const text = body.join(' ');
      const form = ['Content-Type: application/json', `Idempotency-Key: left-${n}`, `Content-Length: ${text.length}`];
      const headers = [`Authorization: ${by.headers['authorization']}`, ...form];
      const socket = connect(Number(port), hostname);
      socket.write(rawRequest(`${method} ${path}`, headers, text));
      return socket;
    };
    await api.database.transaction(async (tx) => {
      await tx.execute(`lock table ${table}`);
      const sockets = Array.from({ length: count }, (_each, n) => send(n));
      const waiting = `select 1 from pg_locks where not granted and relation = '${table}'::regclass`;
      await waitFor('all of them wait', async () => (await tx.execute(waiting)).rowCount === count);
      for (const socket of sockets) socket.destroy();
      // The server has seen the end of the connections when it answers a later one.
      expect((await by.get('/v1/key')).status).toBe(200);
    });
    await waitFor('no place is taken', async () => {
      const leave = Object.entries(AT_ONCE).flatMap(([name, limit]) => {
        const places = name === 'file' ? running.file : running.many;
        return Array.from({ length: limit }, () => places.enter(id, { perSender: limit }));
      });
      for (const each of leave) each?.();
      const open = [await waitingCallers(by), await waitingCallers(by, 'stream')];
      return !leave.includes(undefined) && open.every((each) => each === 0);
    });
    // And no connection of the pool.
    const reads = await Promise.all(Array.from({ length: 10 }, () => by.get(`/v1/orders/${newId('order')}`)));
    expect(reads.map(({ status }) => status)).toEqual(reads.map(() => 404));
  });
});

describe('heavy calls', () => {
  it('of one key are limited, before they do anything, independently of other keys', async () => {
    const [by, other] = [await api.caller(), await api.caller()];
    const id = (await by.get('/v1/key')).textAt('id');
    const heavy = api.operations.filter((each) => each.heavy !== undefined);
    expect(heavy.map((each) => each.id).toSorted()).toEqual([
      'actOnManyCancellations',
      'actOnManyOrders',
      'actOnManyTopups',
      'actOnManyVpnSubscriptions',
      'cancelOrderBatch',
      'createOrderBatch',
      'exportCancellations',
      'exportOrders',
      'exportSales',
      'exportTopups',
      'exportVpnSubscriptions',
      'exportWalletTransactions',
      'getOrderBatchQrArchive',
      'getOrderBatchQrSheet',
      'getSales',
      'replayWebhooks',
      'tryPricing',
    ]);
    const full = Object.values(running).flatMap((places) =>
      Array.from({ length: AT_ONCE.many }, () => places.enter(id, { perSender: AT_ONCE.many })),
    );
    for (const operation of heavy) {
      const { method, path, heavy: kind } = operation;
      const body = method === 'post' ? { body: {} } : {};
      const refused = await callOperation(by, operation, body);
      const code = kind === 'file' ? 'too_many_streams' : 'rate_limited';
      expect([path, refused.status, refused.at('code')]).toEqual([path, 429, code]);
      expect(refused.headers.get('retry-after')).toBe('1');
      expect((await callOperation(other, operation, body)).status).not.toBe(429);
    }
    for (const leave of full) leave?.();
    expect((await by.get('/v1/orders.csv')).status).toBe(200);
  });
});
