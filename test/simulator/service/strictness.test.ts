import { describe, expect, it } from 'vitest';
import { codeOf, fieldsOf, LOGIN, PACKAGE, PLAN, startTestSimulator } from '#test/simulator/support.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import type { HttpAnswer } from '#test/support/network/http.ts';
import { ENDPOINTS, type EndpointContract } from '#upstream/contract.ts';

const simulator = disposedAtEnd(await startTestSimulator());

/** All but the logins, at addresses with the id `x`. */
const calls = Object.entries<EndpointContract>(ENDPOINTS)
  .filter(([name]) => name !== 'login')
  .map(([name, { path, ...call }]) => ({ ...call, name, path: path.replace('{id}', 'x') }));

describe('a call without a valid token', () => {
  it.each(calls)('is answered 401 in both environments: $name', async ({ method, path, name }) => {
    for (const base of name === 'simulateEsim' ? ['/sandbox'] : ['', '/sandbox']) {
      for (const authorization of [undefined, 'Bearer wrong', 'Basic abc', 'Bearer']) {
        const headers = authorization === undefined ? {} : { authorization };
        const answer = await simulator.open.call(method, base + path, { headers });
        expect(codeOf(answer)).toEqual([401, 'unauthenticated']);
        expect(answer.headers.get('www-authenticate')).toBe('Bearer');
      }
    }
  });

  it.each([{ password: 'wrong' }, { email: 'other@example.com' }])('gets no token for %j', async (wrong) => {
    for (const path of ['/login', '/sandbox/login'])
      expect((await simulator.open.post(path, { ...LOGIN, ...wrong })).status).toBe(401);
  });
});

describe('an address', () => {
  it.each([
    ['GET', '/nothing'],
    ['POST', '/orders/x/pay'],
    ['GET', '/Orders'],
    ['GET', '/orders/'],
    ['GET', '/orders/nobody'],
    ['GET', '/esims/nobody/usage'],
    ['GET', '/refunds/nobody'],
    ['POST', '/vpn/subscriptions/nobody/cancel'],
    ['POST', '/webhook-secret/rotate'],
  ])('that does not exist is answered 404: %s %s', async (method, path) => {
    expect(codeOf(await simulator.sandbox.call(method, path, {}))).toEqual([404, 'not_found']);
  });

  const queries = ['limit=0', 'limit=101', 'limit=x', 'cursor=!', 'cursor=eHh4', 'color=red', 'limit=1&limit=2'];
  it.each(queries)('refuses the query %s with 422', async (query) => {
    expect(codeOf(await simulator.sandbox.get(`/orders?${query}`))).toEqual([422, 'validation_failed']);
  });
});

describe('a header of the specification', () => {
  const refusal = (answer: HttpAnswer) => [answer.status, ...fieldsOf(answer)];

  const unkeyed = calls.filter(({ idempotencyKey }) => idempotencyKey !== true);
  it.each(unkeyed)('Idempotency-Key is refused by $name with 400 that names it', async ({ method, path }) => {
    const headers = { 'idempotency-key': 'k' };
    expect(refusal(await simulator.sandbox.call(method, path, { headers }))).toEqual([400, 'Idempotency-Key']);
  });

  it.each(['Authorization', 'Idempotency-Key'])('%s is refused by the logins', async (name) => {
    const headers = { [name]: `Bearer ${simulator.tokens.sandbox}` };
    for (const path of ['/login', '/sandbox/login'])
      expect(refusal(await simulator.open.post(path, LOGIN, { headers }))).toEqual([400, name]);
  });
});

const order = { package_id: PACKAGE, external_order_id: 'strict' };
const vpn = { vpn_plan_id: PLAN, external_subscription_id: 'v', customer_reference: 'c', customer_price: 5.5 };

describe('an invalid body', () => {
  it.each<[string, unknown, string[]]>([
    ['/orders', { ...order, color: 'red' }, ['color']],
    ['/orders', { ...order, package_id: '1001' }, ['package_id']],
    ['/orders', { ...order, package_id: 1 }, ['package_id']],
    ['/orders', { package_id: PACKAGE }, ['external_order_id']],
    ['/orders', { ...order, external_order_id: 'x'.repeat(129) }, ['external_order_id']],
    ['/orders', { ...order, external_order_id: 'a\0b' }, ['external_order_id']],
    ['/orders', { ...order, external_order_id: 'a\ud800b' }, ['external_order_id']],
    ['/orders', { ...order, external_order_id: '\t\u00a0\u2003' }, ['external_order_id']],
    ['/orders', { ...order, device_imei: '1'.repeat(17) }, ['device_imei']],
    ['/orders', { ...order, 'x\0': 1 }, ['x?']],
    ['/orders', [order], ['body']],
    ['/topups', {}, ['esim_id', 'package_id']],
    ['/topups', { esim_id: 'nobody', package_id: PACKAGE }, ['esim_id']],
    ['/topups', { esim_id: 'a\ud800', package_id: PACKAGE }, ['esim_id']],
    ['/topups', { esim_id: 'x', package_id: 1, color: 'red' }, ['color']],
    ['/vpn/orders', {}, ['vpn_plan_id', 'external_subscription_id', 'customer_reference', 'customer_price']],
    ['/vpn/orders', { ...vpn, vpn_plan_id: 1 }, ['vpn_plan_id']],
    ['/vpn/orders', { ...vpn, customer_price: '5.50' }, ['customer_price']],
    ['/vpn/orders', { ...vpn, customer_price: -1 }, ['customer_price']],
    ['/vpn/orders', { ...vpn, external_subscription_id: '  ' }, ['external_subscription_id']],
    ['/esims/x/simulate', { state: 'melted' }, ['state']],
    ['/esims/x/simulate', { state: 'active', color: 'red' }, ['color']],
  ])('is refused with 422 that names the fields: %s %j', async (path, body, fields) => {
    const call = path.endsWith('/simulate') ? {} : { headers: { 'idempotency-key': 'strict' } };
    const answer = await simulator.sandbox.post(path, body, call);
    expect([...codeOf(answer), fieldsOf(answer)]).toEqual([422, 'validation_failed', fields]);
  });

  const written = JSON.stringify(order);
  it.each([
    ['a name twice', written.replace('{', '{"package_id":9003,'), 'package_id'],
    ['a name twice, once with an escape', written.replace('{', '{"package\\u005fid":9003,'), 'package_id'],
    ['a name twice deep inside', written.replace('{', '{"device":[{"a":{"b":1,"c":"}{","b":2}}],'), 'device.0.a.b'],
  ])('is refused with 400 that names the field: %s', async (_what, body, field) => {
    const answer = await simulator.order(body);
    expect([...codeOf(answer), fieldsOf(answer)]).toEqual([400, 'malformed_request', [field]]);
  });

  it.each<[string, string | Uint8Array, number, string]>([
    ['application/json', '{"package_id":', 400, 'malformed_request'],
    ['application/json', '', 400, 'malformed_request'],
    ['application/json', new Uint8Array([0x7b, 0xff, 0x7d]), 400, 'malformed_request'],
    ['application/json', '{}{}', 400, 'malformed_request'],
    ['text/plain', written, 415, 'unsupported_media_type'],
    ['application/json; charset=latin1', written, 415, 'unsupported_media_type'],
    ['application/jsonx', written, 415, 'unsupported_media_type'],
  ])('that is no JSON, or not declared as JSON, is refused: %s %j with %i', async (type, body, ...refusal) => {
    const headers = { 'idempotency-key': 'k', 'content-type': type };
    expect(codeOf(await simulator.sandbox.post('/orders', body, { headers }))).toEqual(refusal);
  });

  it('is one without an Idempotency-Key (400), or with one that is too long (422)', async () => {
    expect(codeOf(await simulator.sandbox.post('/orders', order))).toEqual([400, 'idempotency_key_missing']);
    const long = await simulator.order(order, 'k'.repeat(256));
    expect([long.status, fieldsOf(long)]).toEqual([422, ['Idempotency-Key']]);
  });

  it('leaves no order and no movement behind', async () => {
    expect((await simulator.sandbox.get('/orders')).at('data')).toEqual([]);
    expect(await simulator.ledger()).toHaveLength(1);
  });
});
