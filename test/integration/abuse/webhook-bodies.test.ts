/** Senders who start bodies and never end them. */
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BATCH_BODY_LIMIT } from '#api/order-batches/batch-schemas.ts';
import { AUTHENTICATED_BODY_BYTES, UNAUTHENTICATED_BODIES } from '#domain/policy/body-limits.ts';
import { startTestApi, TEST_NOW, type TestApi } from '#test/support/network/api.ts';
import { waitFor } from '#test/support/wait-for.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api[Symbol.asyncDispose]());

const FRESH = { 'X-Service-Timestamp': String(TEST_NOW / 1_000), 'X-Service-Signature': `v1=${'0'.repeat(64)}` };

/** A request with a body that starts and does not end. */
class SlowRequest {
  answer = '';
  readonly #socket: Socket;

  constructor(headers: Record<string, string | undefined>, sent: number, path = '/webhooks/service') {
    const { hostname, port } = new URL(api.baseUrl);
    const lines = Object.entries({ Host: 'api', 'Content-Length': '200001', ...headers }).map(([name, value]) =>
      value === undefined ? '' : `${name}: ${value}\r\n`,
    );
    this.#socket = connect(Number(port), hostname);
    this.#socket.on('error', () => undefined);
    this.#socket.on('data', (chunk: Buffer) => void (this.answer += chunk.toString('latin1')));
    this.#socket.write(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
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
    try {
      expect(await waitFor('it is answered', async () => delivery.status)).toBe(401);
    } finally {
      delivery.end();
    }
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
