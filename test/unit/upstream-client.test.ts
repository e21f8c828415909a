import { afterEach, describe, expect, it } from 'vitest';
import { ALL_CAPABILITIES, type Capabilities } from '#domain/capabilities.ts';
import { BASE_PATH, type ServiceMode } from '#domain/service-address.ts';
import type { CallEvent } from '#upstream/call.ts';
import { orderRequestBytes } from '#upstream/request-bytes.ts';
import { openService } from '#upstream/service.ts';
import { MemoryTokenStore } from '#test/support/memory-token-store.ts';
import { httpAnswer, startRawServer, type RawRequest } from '#test/support/raw-server.ts';

const opened: AsyncDisposable[] = [];
afterEach(async () => {
  for (const thing of opened.splice(0).toReversed()) await thing[Symbol.asyncDispose]();
});

/** Answers one request; undefined stands for "no answer at all". */
type Answer = (request: { target: string; body: Buffer; token: string | undefined; raw: RawRequest }) => Buffer | undefined;

const json = (body: unknown, status = 200) => httpAnswer(status, JSON.stringify(body));
const refusal = (status: number, code: string) => json({ error: { code } }, status);
const ORDER = { id: 'so_1', external_order_id: 'shop-1', status: 'processing' };

interface Settings {
  readonly capabilities?: Partial<Capabilities>;
  readonly mode?: ServiceMode;
  readonly deadlineMs?: number;
  readonly onCall?: (event: CallEvent) => void;
}

/** A client of a service that logs everyone in (`token-1`, `token-2`, …) and else answers as the test says. */
async function clientOf(answer: Answer, { mode = 'sandbox', capabilities, deadlineMs = 10_000, onCall }: Settings = {}) {
  let logins = 0;
  const server = await startRawServer({
    onRequest: (raw) => {
      const target = raw.head.split(' ')[1] ?? '';
      const token = /^authorization: Bearer (.*)$/im.exec(raw.head)?.[1];
      const bytes = target.endsWith('/login')
        ? json({ access_token: `token-${(logins += 1)}` })
        : answer({ target, body: raw.body, token, raw });
      if (bytes !== undefined) raw.socket.write(bytes);
    },
  });
  const events: CallEvent[] = [];
  const service = openService({
    baseUrl: `${server.origin}${BASE_PATH}`,
    mode,
    email: 'shop@example.com',
    password: 'secret',
    deviceName: 'backend',
    capabilities: { ...ALL_CAPABILITIES, ...capabilities },
    deadlineMs,
    tokens: new MemoryTokenStore(),
    now: Date.now,
    onCall: onCall ?? ((event) => events.push(event)),
  });
  opened.push(server, { [Symbol.asyncDispose]: () => service.close() });
  const targets = () => server.requests.map(({ head }) => head.split(' ')[1]?.replace(BASE_PATH, ''));
  return { client: service.client, server, events, targets };
}

const BODY = orderRequestBytes({ packageId: 1, reference: 'shop-1', deviceImei: '490154203237518' });
const PURCHASE = { idempotencyKey: 'key-1', body: BODY, reference: 'shop-1' };

describe('createOrder', () => {
  it('sends the stored bytes and key, with the token, to the address of the mode', async () => {
    for (const [mode, prefix] of [['sandbox', '/sandbox'], ['production', '']] as const) {
      const { client, server, targets } = await clientOf(() => json(ORDER, 201), { mode });
      expect(await client.createOrder(PURCHASE)).toMatchObject({ ok: true, value: { id: 'so_1', status: 'processing' } });
      expect(targets()).toEqual([`${prefix}/login`, `${prefix}/orders`]);
      const sent = server.requests[1];
      expect(sent?.body.equals(BODY)).toBe(true);
      expect(sent?.head).toMatch(/^idempotency-key: key-1$/im);
      expect(sent?.head).toMatch(/^authorization: Bearer token-1$/im);
      expect(sent?.head).toMatch(/^content-type: application\/json$/im);
      expect(sent?.head).toMatch(/^accept-encoding: identity$/im);
      expect(server.requests[0]?.head).not.toMatch(/^authorization:/im);
    }
  });

  it('answered with 401 renews the token and sends the same bytes and key once more', async () => {
    const { client, server, targets } = await clientOf(({ token }) =>
      token === 'token-2' ? json(ORDER) : refusal(401, 'unauthenticated'),
    );
    expect(await client.createOrder(PURCHASE)).toMatchObject({ ok: true });
    expect(targets()).toEqual(['/sandbox/login', '/sandbox/orders', '/sandbox/login', '/sandbox/orders']);
    const [, first, , second] = server.requests;
    expect(second?.body.equals(first?.body ?? Buffer.alloc(0))).toBe(true);
    const withoutToken = (request: RawRequest | undefined) => request?.head.replace(/^authorization: .*$/im, '');
    expect(withoutToken(second)).toBe(withoutToken(first));
  });

  it('answered with 401 twice is unauthorized, and further calls do not log in again at once', async () => {
    const { client, targets } = await clientOf(() => refusal(401, 'unauthenticated'));
    expect(await client.createOrder(PURCHASE)).toMatchObject({ failure: 'unauthorized', status: 401 });
    expect(await client.createOrder(PURCHASE)).toMatchObject({ failure: 'unauthorized' });
    expect(targets().filter((target) => target === '/sandbox/login')).toHaveLength(2);
    expect(targets().filter((target) => target === '/sandbox/orders')).toHaveLength(3);
  });

  it.each([
    ['a server error', () => refusal(500, 'internal_error'), 'server_error'],
    ['a refusal', () => refusal(402, 'insufficient_balance'), 'insufficient_balance'],
    ['a redirect', () => httpAnswer(302, '', { location: '/elsewhere' }), 'unreadable_answer'],
    ['a known key', () => refusal(409, 'idempotency_key_in_use'), 'key_or_reference_known'],
    ['rubbish', () => httpAnswer(200, '<html>'), 'unreadable_answer'],
    ['a compressed body', () => httpAnswer(200, JSON.stringify(ORDER), { 'content-encoding': 'gzip' }), 'unreadable_answer'],
    ['an order without a status', () => json({ id: 'so_1' }), 'contract_drift'],
    ['an order with another reference', () => json({ ...ORDER, external_order_id: 'shop-2' }), 'contract_drift'],
  ])('answered with %s is sent once', async (_name, answer, failure) => {
    const { client, targets } = await clientOf(answer);
    expect(await client.createOrder(PURCHASE)).toMatchObject({ failure });
    expect(targets().filter((target) => target === '/sandbox/orders')).toHaveLength(1);
  });

  it('whose connection breaks is sent once', async () => {
    const { client, targets } = await clientOf(({ raw }) => {
      raw.socket.resetAndDestroy();
      return undefined;
    });
    expect(await client.createOrder(PURCHASE)).toMatchObject({ failure: 'connection_lost' });
    expect(targets()).toEqual(['/sandbox/login', '/sandbox/orders']);
  });

  it('has a connection of its own, so that a server that closes idle ones cannot make it unknown', async () => {
    const { client, server } = await clientOf(() => json(ORDER));
    await client.getOrder('so_1');
    await client.createOrder(PURCHASE);
    await client.createOrder(PURCHASE);
    const purchases = server.requests.filter(({ head }) => head.startsWith('POST') && head.includes('/orders'));
    const others = server.requests.filter((request) => !purchases.includes(request));
    const usedBy = (requests: readonly RawRequest[]) => new Set(requests.map(({ connection }) => connection));
    expect(usedBy(purchases).size).toBe(2);
    expect([...usedBy(purchases)].filter((connection) => usedBy(others).has(connection))).toEqual([]);
    expect(purchases.every(({ head }) => /^connection: close$/im.test(head))).toBe(true);
  });

  it('accepts an answer that names no reference', async () => {
    const { client } = await clientOf(() => json({ id: 1, status: 'completed' }));
    expect(await client.createOrder(PURCHASE)).toMatchObject({ ok: true, value: { id: '1' } });
  });

  it('keeps its result when a metric fails', async () => {
    const { client } = await clientOf(() => json(ORDER), {
      onCall: () => {
        throw new Error('no such metric');
      },
    });
    expect(await client.createOrder(PURCHASE)).toMatchObject({ ok: true });
  });
});

describe('reads', () => {
  it('reject an answer about another thing', async () => {
    const { client } = await clientOf(({ target }) =>
      target.includes('/orders/')
        ? json(ORDER)
        : json({ id: 'e_1', iccid: '8944500000000000001', activation_code: 'LPA:1$a.example$x', status: 'new' }),
    );
    expect(await client.getOrder('so_1')).toMatchObject({ ok: true });
    expect(await client.getOrder('so_2')).toMatchObject({ failure: 'contract_drift' });
    expect(await client.getEsim('e_1')).toMatchObject({ ok: true, value: { iccid: '8944500000000000001' } });
    expect(await client.getEsim('e_2')).toMatchObject({ failure: 'contract_drift' });
  });

  it.each([
    ['a/b?c=d#e', '/sandbox/orders/a%2Fb%3Fc%3Dd%23e'],
    ['..', '/sandbox/orders/%2E%2E'],
    ['.', '/sandbox/orders/%2E'],
    ['$&', '/sandbox/orders/%24%26'],
    ['half \ud800', '/sandbox/orders/half%20%EF%BF%BD'],
  ])('keep the id %j one segment of the path', async (id, target) => {
    const { client, targets } = await clientOf(() => refusal(404, 'not_found'));
    expect(await client.getOrder(id)).toMatchObject({ failure: 'invalid_request', status: 404 });
    expect(targets()[1]).toBe(target);
  });

  it('renew the token after a 401 as well', async () => {
    const { client } = await clientOf(({ token }) =>
      token === 'token-2' ? json({ balance: '10.50', currency: 'EUR' }) : refusal(401, 'unauthenticated'),
    );
    expect(await client.getWallet()).toMatchObject({ ok: true, value: { balance: '10.50', currency: 'EUR' } });
  });
});

describe('a capability that is switched off', () => {
  it('is an answer of its own kind, and nothing is sent', async () => {
    const off = { order_read: false, order_list: false, wallet_transactions: false };
    const { client, server } = await clientOf(() => json(ORDER), { capabilities: off });
    const unsupported = (capability: string) => ({ ok: false, kind: 'unsupported', capability });
    expect(await client.getOrder('so_1')).toEqual(unsupported('order_read'));
    expect(await client.findOrdersByReference('shop-1')).toEqual(unsupported('order_list'));
    expect(await client.listWalletTransactions({ since: 0 })).toEqual(unsupported('wallet_transactions'));
    expect(server.connections()).toBe(0);
  });
});

/** A list in pages of two, with cursors. */
function pages(items: readonly unknown[]): Answer {
  return ({ target }) => {
    const from = Number(new URL(target, 'http://service').searchParams.get('cursor') ?? 0);
    const next = from + 2 < items.length ? String(from + 2) : null;
    return json({ data: items.slice(from, from + 2), next_cursor: next });
  };
}

const PACKAGES = Array.from({ length: 5 }, (_item, id) => ({ id, name: `P${id}`, price_for_reseller: '1.5', currency: 'EUR' }));
const TRANSACTION = { id: 't', type: 'debit', amount: '1.50', currency: 'EUR', reason: 'order', created_at: '2025-06-01T12:00:00Z' };

describe('lists', () => {
  it('are read with all their pages', async () => {
    const { client, targets } = await clientOf(pages(PACKAGES));
    const result = await client.listPackages();
    expect(result.ok && result.value.items.map(({ id }) => id)).toEqual([0, 1, 2, 3, 4]);
    expect(result.ok && result.value.complete).toBe(true);
    expect(targets().slice(1)).toEqual([
      '/sandbox/packages?limit=100',
      '/sandbox/packages?limit=100&cursor=2',
      '/sandbox/packages?limit=100&cursor=4',
    ]);
  });

  it('fail as a whole when a page does: half a list is no list', async () => {
    const paged = pages(PACKAGES);
    const { client } = await clientOf((request) => (request.target.includes('cursor=4') ? refusal(500, 'x') : paged(request)));
    expect(await client.listPackages()).toMatchObject({ failure: 'server_error' });
  });

  it('end, and say that they are incomplete, when the service never ends them', async () => {
    let page = 0;
    const endless = await clientOf(() => json({ data: [], next_cursor: String((page += 1)) }));
    expect(await endless.client.listPackages()).toMatchObject({ ok: true, value: { complete: false } });
    expect(endless.targets()).toHaveLength(1 + 100);

    const circle = await clientOf(() => json({ data: [], next_cursor: 'same' }));
    expect(await circle.client.listPackages()).toMatchObject({ ok: true, value: { complete: false } });
    expect(circle.targets()).toHaveLength(1 + 2);
  });

  it('of orders by reference hold only those, also when the service ignores the filter', async () => {
    const orders = ['shop-1', 'shop-2', 'shop-1', 'shop-10'].map((external_order_id, id) => ({ ...ORDER, id, external_order_id }));
    const { client, targets } = await clientOf(pages(orders));
    const result = await client.findOrdersByReference('shop-1');
    expect(result.ok && result.value.items.map(({ id }) => id)).toEqual(['0', '2']);
    expect(result.ok && result.value.complete).toBe(true);
    expect(targets()[1]).toBe('/sandbox/orders?external_order_id=shop-1&limit=100');
  });

  it('of orders by reference are incomplete while one names no reference: it may be the one', async () => {
    const { client } = await clientOf(pages([{ id: 'so_1', status: 'completed' }]));
    expect(await client.findOrdersByReference('shop-1')).toMatchObject({ value: { items: [], complete: false } });
  });

  it('of wallet transactions are not filtered here: a debit without a reference may be the one', async () => {
    const { client, targets } = await clientOf(pages([TRANSACTION, { ...TRANSACTION, external_order_id: 'shop-2' }]));
    const result = await client.listWalletTransactions({ reference: 'shop-1' });
    expect(result.ok && result.value.items).toHaveLength(2);
    await client.listWalletTransactions({ since: Date.UTC(2025, 5, 1) });
    expect(targets().slice(1)).toEqual([
      '/sandbox/wallet/transactions?external_order_id=shop-1&limit=100',
      '/sandbox/wallet/transactions?since=2025-06-01T00%3A00%3A00.000Z&limit=100',
    ]);
  });
});

it('every exchange is reported with its endpoint, outcome and status, and nothing of its contents', async () => {
  const { client, events } = await clientOf(({ token, raw }) => {
    if (token === 'token-1') return refusal(401, 'unauthenticated');
    raw.socket.destroy();
    return undefined;
  });
  await client.createOrder(PURCHASE);
  expect(events.map(({ endpoint, outcome, status }) => [endpoint, outcome, status])).toEqual([
    ['login', 'ok', 200],
    ['createOrder', 'unauthorized', 401],
    ['login', 'ok', 200],
    ['createOrder', 'connection_lost', undefined],
  ]);
  expect(JSON.stringify(events)).not.toMatch(/shop-1|token|490154203237518|secret/);
});
