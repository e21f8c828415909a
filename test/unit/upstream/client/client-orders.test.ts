import { describe, expect, it } from 'vitest';
import { httpAnswer, type RawRequest } from '#test/support/network/raw-server.ts';
import { closedTestClients, jsonAnswer as json, ORDER, refusal, type Answer } from '#test/support/upstream-client.ts';
import type { ServiceClient } from '#upstream/client.ts';
import { orderRequestBytes } from '#upstream/client/request-bytes.ts';

const clientOf = closedTestClients();

const BODY = orderRequestBytes({ packageId: 1, reference: 'shop-1', deviceImei: '490154203237518' });
const PURCHASE = { idempotencyKey: 'key-1', body: BODY, reference: 'shop-1', packageId: 7 };

/** Each purchase with an answer that suits it. */
const PURCHASES = {
  order: [
    (client: ServiceClient) => client.createOrder({ ...PURCHASE, reference: 'shop-order-17' }),
    { ...ORDER, external_order_id: 'shop-order-17', package_id: 7 },
  ],
  topup: [
    (client: ServiceClient) => client.createTopup({ ...PURCHASE, esimId: 'e_1' }),
    { id: 't_1', esim_id: 'e_1', package_id: 7, status: 'processing' },
  ],
  vpn: [
    (client: ServiceClient) => client.createVpnOrder({ ...PURCHASE, vpnPlanId: 3 }),
    { id: 'v_1', external_subscription_id: 'shop-1', vpn_plan_id: 3, status: 'active' },
  ],
} as const;

it.each([
  ['order', { external_order_id: 'shop-order-18' }],
  ['order', { external_order_id: 'shop-o' }],
  ['order', { external_order_id: 'shop-order-171' }],
  ['order', { package_id: 8 }],
  ['topup', { package_id: 8 }],
  ['vpn', { external_subscription_id: 'sub-2' }],
  ['vpn', { vpn_plan_id: 4 }],
] as const)('a purchase (%s) whose answer is about another one is contract drift: %j', async (kind, difference) => {
  const [buy, suitable] = PURCHASES[kind];
  const answers: object[] = [suitable, { ...suitable, ...difference }];
  const { client } = await clientOf(() => json(answers.shift()));
  expect(await buy(client)).toMatchObject({ ok: true });
  expect(await buy(client)).toMatchObject({ failure: 'contract_drift' });
});

describe('createOrder', () => {
  it('renews the token after a 401 and resends once', async () => {
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

  it.each<[string, Answer, string]>([
    ['a server error', () => refusal(500, 'internal_error'), 'server_error'],
    ['a refusal', () => refusal(402, 'insufficient_balance'), 'insufficient_balance'],
    ['a redirect', () => httpAnswer(302, '', { location: '/elsewhere' }), 'unreadable_answer'],
    ['an order without a status', () => json({ id: 'so_1' }), 'contract_drift'],
    ['a broken connection', ({ raw }) => void raw.socket.resetAndDestroy(), 'connection_lost'],
  ])('answered with %s is sent once', async (_name, answer, failure) => {
    const { client, targets } = await clientOf(answer);
    expect(await client.createOrder(PURCHASE)).toMatchObject({ failure });
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

  it.each<[string, string, unknown]>([
    ['in another case', 'Shop-Order-17', 'SHOP-ORDER-17'],
    ['cut at its end', 'shop-order-2026-11-28-0017', 'shop-order-2026-11-28'],
    ['as a number', '20261128', 20_261_128],
    ['as a number, without its first zeros', '00000017', 17],
  ])('accepts our reference %s, and reports the difference', async (_form, reference, named) => {
    const { client, events } = await clientOf(() => json({ ...ORDER, external_order_id: named }));
    const differing = String(named) === reference ? undefined : ['external_order_id'];
    const result = await client.createOrder({ ...PURCHASE, reference });
    expect(result).toMatchObject({ ok: true, value: { id: 'so_1' } });
    expect([result.ok && result.differing, events.at(-1)?.differing]).toEqual([differing, differing]);
  });

  it('accepts an answer without a reference', async () => {
    const { client } = await clientOf(() => json({ id: 1, status: 'completed' }));
    expect(await client.createOrder(PURCHASE)).toMatchObject({ ok: true, value: { id: '1' } });
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
