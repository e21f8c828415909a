import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EMAIL, fieldsOf, PASSWORD, startTestSimulator } from '#test/simulator/support.ts';
import { ENDPOINTS, type EndpointContract } from '#upstream/contract.ts';

/** All but the logins. */
const endpoints = Object.entries<EndpointContract>(ENDPOINTS).filter(([name]) => name !== 'login');

let simulator: Awaited<ReturnType<typeof startTestSimulator>>;
beforeAll(async () => {
  simulator = await startTestSimulator();
});
afterAll(() => simulator.simulator.close());

describe('a call without a valid token', () => {
  const calls = endpoints.map(([, { method, path }]) => [method, path.replace('{id}', 'x')] as const);
  for (const base of ['', '/sandbox']) {
    const there = calls.filter(([, path]) => base !== '' || !path.endsWith('/simulate'));
    it.each(there)(`is answered 401: %s ${base}%s`, async (method, path) => {
      for (const authorization of [undefined, 'Bearer wrong', 'Basic abc', 'Bearer']) {
        const headers = authorization === undefined ? {} : { authorization };
        const answer = await simulator.open.call(method, base + path, { headers });
        expect([answer.status, answer.at('error', 'code')]).toEqual([401, 'unauthenticated']);
        expect(answer.headers.get('www-authenticate')).toBe('Bearer');
      }
    });
  }

  it.each([
    [{ email: EMAIL, password: 'wrong', device_name: 'x' }],
    [{ email: 'other@example.com', password: PASSWORD, device_name: 'x' }],
  ])('gives no token for wrong credentials', async (body) => {
    for (const path of ['/login', '/sandbox/login']) expect((await simulator.open.post(path, body)).status).toBe(401);
  });
});

describe('an address', () => {
  it.each([
    ['GET', '/nothing'],
    ['POST', '/orders/x/pay'],
    ['GET', '/Orders'],
    ['GET', '/orders/'],
    ['GET', '/orders/nobody'],
    ['GET', '/esims/nobody'],
    ['GET', '/esims/nobody/usage'],
    ['GET', '/esims/nobody/topup-options'],
    ['GET', '/topups/nobody'],
    ['GET', '/refunds/nobody'],
    ['GET', '/vpn/subscriptions/nobody'],
    ['POST', '/vpn/subscriptions/nobody/cancel'],
    ['POST', '/webhook-secret/rotate'],
  ])('that does not exist is answered 404: %s %s', async (method, path) => {
    const answer = await simulator.sandbox.call(method, path, {});
    expect([answer.status, answer.at('error', 'code')]).toEqual([404, 'not_found']);
  });

  it.each(['limit=0', 'limit=101', 'limit=x', 'cursor=!', 'cursor=eHh4', 'color=red', 'limit=1&limit=2'])(
    'refuses the query %s with 422',
    async (query) => {
      for (const path of ['/orders', '/topups', '/refunds', '/vpn/subscriptions', '/packages', '/public/packages']) {
        const answer = await simulator.sandbox.get(`${path}?${query}`);
        expect([answer.status, answer.at('error', 'code')]).toEqual([422, 'validation_failed']);
      }
    },
  );
});

describe('a header of the specification', () => {
  const login = { email: EMAIL, password: PASSWORD, device_name: 'x' };
  const isKeyed = ([, { idempotencyKey }]: (typeof endpoints)[number]): boolean => idempotencyKey === true;
  const others = endpoints.filter((each) => !isKeyed(each));

  it.each(others.map(([name, { method, path }]) => [name, method, path] as const))(
    'Idempotency-Key is refused by %s with 400 that names it',
    async (_name, method, path) => {
      const answer = await simulator.sandbox.call(method, path.replace('{id}', 'x'), {
        headers: { 'idempotency-key': 'k' },
      });
      expect([answer.status, answer.at('error', 'code'), fieldsOf(answer)]).toEqual([
        400,
        'malformed_request',
        ['Idempotency-Key'],
      ]);
    },
  );

  it('the logins refuse Authorization and Idempotency-Key', async () => {
    for (const path of ['/login', '/sandbox/login']) {
      expect((await simulator.open.post(path, login)).status).toBe(200);
      for (const [name, value] of [
        ['Authorization', `Bearer ${simulator.tokens.sandbox}`],
        ['Idempotency-Key', 'k'],
      ] as const) {
        const answer = await simulator.open.post(path, login, { headers: { [name]: value } });
        expect([answer.status, answer.at('error', 'code'), fieldsOf(answer)]).toEqual([
          400,
          'malformed_request',
          [name],
        ]);
      }
    }
  });
});
