import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EMAIL, fieldsOf, PASSWORD, startTestSimulator } from '#test/simulator/support.ts';
import type { HttpAnswer } from '#test/support/network/http.ts';
import { ENDPOINTS, type EndpointContract } from '#upstream/contract.ts';

/** All but the logins, at addresses with the id `x`. */
const calls = Object.entries<EndpointContract>(ENDPOINTS)
  .filter(([name]) => name !== 'login')
  .map(([name, { path, ...call }]) => ({ ...call, name, path: path.replace('{id}', 'x') }));
const login = { email: EMAIL, password: PASSWORD, device_name: 'x' };

let simulator: Awaited<ReturnType<typeof startTestSimulator>>;
beforeAll(async () => {
  simulator = await startTestSimulator();
});
afterAll(() => simulator.simulator.close());

describe('a call without a valid token', () => {
  it.each(calls)('is answered 401 in both environments: $name', async ({ method, path, name }) => {
    for (const base of name === 'simulateEsim' ? ['/sandbox'] : ['', '/sandbox']) {
      for (const authorization of [undefined, 'Bearer wrong', 'Basic abc', 'Bearer']) {
        const headers = authorization === undefined ? {} : { authorization };
        const answer = await simulator.open.call(method, base + path, { headers });
        expect([answer.status, answer.at('error', 'code')]).toEqual([401, 'unauthenticated']);
        expect(answer.headers.get('www-authenticate')).toBe('Bearer');
      }
    }
  });

  it.each([{ password: 'wrong' }, { email: 'other@example.com' }])('gets no token for %j', async (wrong) => {
    for (const path of ['/login', '/sandbox/login'])
      expect((await simulator.open.post(path, { ...login, ...wrong })).status).toBe(401);
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
    const answer = await simulator.sandbox.call(method, path, {});
    expect([answer.status, answer.at('error', 'code')]).toEqual([404, 'not_found']);
  });

  it.each(['limit=0', 'limit=101', 'limit=x', 'cursor=!', 'cursor=eHh4', 'color=red', 'limit=1&limit=2'])(
    'refuses the query %s with 422',
    async (query) => {
      const answer = await simulator.sandbox.get(`/orders?${query}`);
      expect([answer.status, answer.at('error', 'code')]).toEqual([422, 'validation_failed']);
    },
  );
});

describe('a header of the specification', () => {
  const refusal = (answer: HttpAnswer) => [answer.status, ...fieldsOf(answer)];

  it.each(calls.filter(({ idempotencyKey }) => idempotencyKey !== true))(
    'Idempotency-Key is refused by $name with 400 that names it',
    async ({ method, path }) => {
      const headers = { 'idempotency-key': 'k' };
      const refused = await simulator.sandbox.call(method, path, { headers });
      expect(refusal(refused)).toEqual([400, 'Idempotency-Key']);
    },
  );

  it.each(['Authorization', 'Idempotency-Key'])('%s is refused by the logins', async (name) => {
    const headers = { [name]: `Bearer ${simulator.tokens.sandbox}` };
    for (const path of ['/login', '/sandbox/login'])
      expect(refusal(await simulator.open.post(path, login, { headers }))).toEqual([400, name]);
  });
});
