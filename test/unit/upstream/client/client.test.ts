import { afterEach, describe, expect, it } from 'vitest';
import type { Capability } from '#domain/service/capabilities.ts';
import { httpAnswer, type RawRequest } from '#test/support/network/raw-server.ts';
import {
  jsonAnswer as json,
  refusal,
  startTestClient,
  type Answer,
  type TestClientSettings,
} from '#test/support/upstream-client.ts';
import type { ServiceClient } from '#upstream/client.ts';
import { orderRequestBytes } from '#upstream/client/request-bytes.ts';
import { ENDPOINTS, type EndpointContract } from '#upstream/contract.ts';

const opened: AsyncDisposable[] = [];
afterEach(async () => {
  for (const thing of opened.splice(0).toReversed()) await thing[Symbol.asyncDispose]();
});

const ORDER = { id: 'so_1', external_order_id: 'shop-1', status: 'processing' };

async function clientOf(answer: Answer, settings: TestClientSettings = {}) {
  const client = await startTestClient(answer, settings);
  opened.push(client);
  return client;
}

const BODY = orderRequestBytes({ packageId: 1, reference: 'shop-1', deviceImei: '490154203237518' });
const PURCHASE = { idempotencyKey: 'key-1', body: BODY, reference: 'shop-1', packageId: 7 };

describe('createOrder', () => {
  it('sends the stored bytes and key to its address [spec: endpoint.orders, header.authorization]', async () => {
    for (const [mode, prefix] of [
      ['sandbox', '/sandbox'],
      ['production', ''],
    ] as const) {
      const { client, server, targets } = await clientOf(() => json(ORDER, 201), { mode });
      expect(await client.createOrder(PURCHASE)).toMatchObject({
        ok: true,
        value: { id: 'so_1', status: 'processing' },
      });
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

  it('renews the token after a 401 and resends once [spec: header.idempotency-key, gap.token-end]', async () => {
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
    ['a known key', () => refusal(409, 'idempotency_key_in_use'), 'key_or_reference_used'],
    ['rubbish', () => httpAnswer(200, '<html>'), 'unreadable_answer'],
    [
      'a compressed body',
      () => httpAnswer(200, JSON.stringify(ORDER), { 'content-encoding': 'gzip' }),
      'unreadable_answer',
    ],
    ['an order without a status', () => json({ id: 'so_1' }), 'contract_drift'],
    ['an order with another reference', () => json({ ...ORDER, external_order_id: 'shop-2' }), 'contract_drift'],
    ['an order of another package', () => json({ ...ORDER, package_id: 8 }), 'contract_drift'],
  ])('answered with %s is sent once', async (_name, answer, failure) => {
    const { client, targets } = await clientOf(answer);
    expect(await client.createOrder(PURCHASE)).toMatchObject({ failure });
    expect(targets().filter((target) => target === '/sandbox/orders')).toHaveLength(1);
  });

  it('with a broken connection is sent once', async () => {
    const { client, targets } = await clientOf(({ raw }) => {
      raw.socket.resetAndDestroy();
      return undefined;
    });
    expect(await client.createOrder(PURCHASE)).toMatchObject({ failure: 'connection_lost' });
    expect(targets()).toEqual(['/sandbox/login', '/sandbox/orders']);
  });

  it('has its own connection, so a server that closes idle ones cannot make it unknown', async () => {
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

  it('accepts an answer without a reference', async () => {
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
  it('reject an answer about another resource', async () => {
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

  it('renew the token after a 401', async () => {
    const { client } = await clientOf(({ token }) =>
      token === 'token-2' ? json({ balance: '10.50', currency: 'EUR' }) : refusal(401, 'unauthenticated'),
    );
    expect(await client.getWallet()).toMatchObject({ ok: true, value: { balance: '10.50', currency: 'EUR' } });
  });
});

/** Items since June, at most two pages. */
const RECENT = { since: Date.UTC(2025, 5, 1), maxPages: 2 };

describe('a capability that is switched off', () => {
  const CALLS: Readonly<
    Record<Exclude<Capability, 'key_replay'>, readonly ((client: ServiceClient) => Promise<unknown>)[]>
  > = {
    order_read: [(client) => client.getOrder('so_1')],
    order_list: [(client) => client.findOrdersByReference('shop-1'), (client) => client.listRecentOrders(RECENT)],
    wallet_transactions: [(client) => client.listWalletTransactions({ since: 0 })],
    public_packages: [(client) => client.listPublicPackages()],
    esim_usage: [(client) => client.getEsimUsage('e_1')],
    topup_read: [(client) => client.getTopup('t_1')],
    topup_list: [(client) => client.findTopupsOfEsim('e_1'), (client) => client.listRecentTopups(RECENT)],
    refund_read: [(client) => client.getRefund('r_1')],
    refund_list: [(client) => client.findRefundsOfEsim('e_1'), (client) => client.listRecentRefunds(RECENT)],
    vpn_subscription_read: [(client) => client.getVpnSubscription('v_1')],
    vpn_subscription_list: [
      (client) => client.findVpnSubscriptionsByReference('sub-1'),
      (client) => client.listRecentVpnSubscriptions(RECENT),
    ],
    openapi_download: [(client) => client.getOpenApi()],
    sandbox_simulation: [(client) => client.simulateEsim('e_1', 'active')],
    webhook_secret: [(client) => client.createWebhookSecret(), (client) => client.rotateWebhookSecret()],
  };
  const cases = Object.entries(CALLS) as [Capability, (typeof CALLS)[keyof typeof CALLS]][];

  it.each(cases)('gives a separate result without a request: %s [spec: gap.paths]', async (capability, calls) => {
    const { client, server } = await clientOf(() => json(ORDER), { capabilities: { [capability]: false } });
    for (const call of calls) expect(await call(client)).toEqual({ ok: false, kind: 'unsupported', capability });
    expect(server.connections()).toBe(0);
  });

  it('covers each assumed call, except those required for every delivery [spec: gap.paths]', () => {
    const assumed = (Object.values(ENDPOINTS) as EndpointContract[]).filter(
      ({ request }) => request === 'call assumed',
    );
    const without = assumed.filter(({ capability }) => capability === undefined).map(({ path }) => path);
    expect(without).toEqual(['/packages', '/esims/{id}', '/wallet']);
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

const PACKAGES = Array.from({ length: 5 }, (_item, id) => ({
  id,
  name: `P${id}`,
  price_for_reseller: '1.5',
  currency: 'EUR',
}));
const TRANSACTION = {
  id: 't',
  type: 'debit',
  amount: '1.50',
  currency: 'EUR',
  reason: 'order',
  created_at: '2025-06-01T12:00:00Z',
};

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

  it('fail as a whole when one page fails', async () => {
    const paged = pages(PACKAGES);
    const { client } = await clientOf((request) =>
      request.target.includes('cursor=4') ? refusal(500, 'x') : paged(request),
    );
    expect(await client.listPackages()).toMatchObject({ failure: 'server_error' });
  });

  it('are incomplete when the service never ends them', async () => {
    let page = 0;
    const endless = await clientOf(() => json({ data: [], next_cursor: String((page += 1)) }));
    expect(await endless.client.listPackages()).toMatchObject({ ok: true, value: { complete: false } });
    expect(endless.targets()).toHaveLength(1 + 100);

    const circle = await clientOf(() => json({ data: [], next_cursor: 'same' }));
    expect(await circle.client.listPackages()).toMatchObject({ ok: true, value: { complete: false } });
    expect(circle.targets()).toHaveLength(1 + 2);
  });

  it('of orders by reference contain only matching orders, also when the service ignores the filter', async () => {
    const orders = ['shop-1', 'shop-2', 'shop-1', 'shop-10'].map((external_order_id, id) => ({
      ...ORDER,
      id,
      external_order_id,
    }));
    const { client, targets } = await clientOf(pages(orders));
    const result = await client.findOrdersByReference('shop-1');
    expect(result.ok && result.value.items.map(({ id }) => id)).toEqual(['0', '2']);
    expect(result.ok && result.value.complete).toBe(true);
    expect(targets()[1]).toBe('/sandbox/orders?external_order_id=shop-1&limit=100');
  });

  it('of orders by reference are incomplete if one has no reference, because it may match', async () => {
    const { client } = await clientOf(pages([{ id: 'so_1', status: 'completed' }]));
    expect(await client.findOrdersByReference('shop-1')).toMatchObject({ value: { items: [], complete: false } });
  });

  it.each([
    ['orders', 'created_at', '/orders', (client: ServiceClient) => client.listRecentOrders(RECENT)],
    ['top-ups', 'created_at', '/topups', (client: ServiceClient) => client.listRecentTopups(RECENT)],
    ['refunds', 'created_at', '/refunds', (client: ServiceClient) => client.listRecentRefunds(RECENT)],
    [
      'VPN subscriptions',
      'started_at',
      '/vpn/subscriptions',
      (client: ServiceClient) => client.listRecentVpnSubscriptions(RECENT),
    ],
  ] as const)(
    'of the newest %s are read unfiltered, as far back as requested, within the page limit',
    async (_what, time, path, call) => {
      const listed = (...days: (number | null)[]) =>
        pages(
          days.map((day, id) => ({
            id,
            status: 'processing',
            [time]: day === null ? null : new Date(Date.UTC(2025, 5, day)).toISOString(),
          })),
        );
      const first = `/sandbox${path}?limit=100`;
      const short = await clientOf(listed(3, null));
      expect(await call(short.client)).toMatchObject({ value: { items: [{}, {}], complete: true } });
      expect(short.targets().slice(1)).toEqual([first]);
      const old = await clientOf(listed(3, -1, -2, -3));
      expect(await call(old.client)).toMatchObject({ value: { items: [{ id: '0' }, { id: '1' }], complete: false } });
      expect(old.targets().slice(1)).toEqual([first]);
      const many = await clientOf(listed(9, 8, 7, 6, 5, 4));
      expect(await call(many.client)).toMatchObject({ value: { items: [{}, {}, {}, {}], complete: false } });
      expect(many.targets().slice(1)).toEqual([first, `${first}&cursor=2`]);
    },
  );

  it('of wallet transactions are not filtered, because a debit without a reference may match', async () => {
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

it('every exchange is reported with endpoint, outcome and status, and without its content', async () => {
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
