import { describe, expect, it } from 'vitest';
import { httpAnswer, type RawRequest } from '#test/support/network/raw-server.ts';
import { closedTestClients, jsonAnswer as json, ORDER, refusal } from '#test/support/upstream-client.ts';
import { orderRequestBytes } from '#upstream/client/request-bytes.ts';

const clientOf = closedTestClients();

const BODY = orderRequestBytes({ packageId: 1, reference: 'shop-1', deviceImei: '490154203237518' });
const PURCHASE = { idempotencyKey: 'key-1', body: BODY, reference: 'shop-1', packageId: 7 };

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

  it.each<[string, string, unknown]>([
    ['in another case', 'Shop-Order-17', 'SHOP-ORDER-17'],
    ['cut at its end', 'shop-order-2026-11-28-0017', 'shop-order-2026-11-28'],
    ['as a number', '20261128', 20_261_128],
    ['as a number, without its first zeros', '00000017', 17],
  ])('accepts our reference %s, and reports the difference', async (_form, reference, named) => {
    const { client, events } = await clientOf(() => json({ ...ORDER, external_order_id: named }));
    const isExact = String(named) === reference;
    const result = await client.createOrder({ ...PURCHASE, reference });
    expect(result).toMatchObject({ ok: true, value: { id: 'so_1' } });
    expect(result.ok && result.differing).toEqual(isExact ? undefined : ['external_order_id']);
    expect(events.at(-1)?.differing).toEqual(isExact ? undefined : ['external_order_id']);
  });

  it.each([
    ['a short beginning', 'shop-order-17', 'shop-o'],
    ['a continuation', 'shop-order-17', 'shop-order-171'],
  ])('does not accept %s of our reference', async (_form, reference, named) => {
    const { client } = await clientOf(() => json({ ...ORDER, external_order_id: named }));
    expect(await client.createOrder({ ...PURCHASE, reference })).toMatchObject({ failure: 'contract_drift' });
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
