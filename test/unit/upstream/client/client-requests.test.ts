import { describe, expect, it } from 'vitest';
import { EXCHANGES, exchangeNames, KEY } from '#test/support/network/client-exchanges.ts';
import { headerOf, jsonAnswer, startTestClient } from '#test/support/upstream-client.ts';
import { ENDPOINTS, type EndpointContract, type EndpointName } from '#upstream/contract.ts';

/** Makes the call and returns its request, without the login. */
async function requestOf(name: keyof typeof EXCHANGES) {
  const { call, answer } = EXCHANGES[name];
  await using opened = await startTestClient(() => jsonAnswer(answer));
  const result = await call(opened.client);
  const [request, ...more] = opened.server.requests.filter(({ head }) => !head.includes('/login '));
  expect({ result, more }).toMatchObject({ result: { ok: true }, more: [] });
  return request;
}

/** The four calls with a key in the specification. */
const WITH_A_KEY = ['createOrder', 'createVpnOrder', 'createTopup', 'cancelEsim'];
/** Calls that need no token, because they are "public" or "available for download". */
const WITHOUT_A_TOKEN = ['listPublicPackages', 'getOpenApi'];

describe('the request of each call', () => {
  it.each(exchangeNames)('%s has its method, path and query', async (name) => {
    const request = await requestOf(name);
    const [method = '', target = ''] = request?.head.split(' ') ?? [];
    expect(`${method} ${target.replace('/api/reseller/v1/sandbox', '')}`).toBe(EXCHANGES[name].sends);
  });

  it.each(exchangeNames)('%s has its exact body', async (name) => {
    const request = await requestOf(name);
    const { body } = EXCHANGES[name];
    expect(request?.body.toString()).toBe(body ?? '');
    expect(headerOf(request, 'content-type')).toBe(body === undefined ? undefined : 'application/json');
  });

  it.each(exchangeNames)('%s has a Bearer token when protected', async (name) => {
    const request = await requestOf(name);
    expect(headerOf(request, 'authorization')).toBe(WITHOUT_A_TOKEN.includes(name) ? undefined : 'Bearer token-1');
  });

  it.each(exchangeNames)('%s has an Idempotency-Key only when the specification requires it', async (name) => {
    const request = await requestOf(name);
    expect(headerOf(request, 'idempotency-key')).toBe(WITH_A_KEY.includes(name) ? KEY : undefined);
  });
});

describe('the login', () => {
  const credentials = { email: 'shop@example.com', password: 'secret', device_name: 'backend' };

  it.each([
    ['production', undefined, '/api/reseller/v1/login', credentials],
    ['production', 30, '/api/reseller/v1/login', { ...credentials, expires_in_days: 30 }],
    ['sandbox', undefined, '/api/reseller/v1/sandbox/login', credentials],
    ['sandbox', 30, '/api/reseller/v1/sandbox/login', credentials],
  ] as const)('in %s (lifetime %s) sends the credentials to %s', async (mode, tokenDays, target, body) => {
    const answer = () => jsonAnswer({ balance: '1', currency: 'EUR' });
    await using opened = await startTestClient(answer, { mode, ...(tokenDays === undefined ? {} : { tokenDays }) });
    await opened.client.getWallet();
    const [login] = opened.server.requests;
    expect(login?.head.split(' ').slice(0, 2)).toEqual(['POST', target]);
    expect(JSON.parse(login?.body.toString() ?? '')).toEqual(body);
    expect(headerOf(login, 'authorization')).toBeUndefined();
    expect(headerOf(login, 'content-type')).toBe('application/json');
    expect(headerOf(login, 'idempotency-key')).toBeUndefined();
  });
});

describe('the contract agrees with the client:', () => {
  const endpoints = Object.entries(ENDPOINTS) as [EndpointName, EndpointContract][];

  it('a key on order, VPN order, top-up and eSIM cancellation', () => {
    const keyed = endpoints.filter(([, { idempotencyKey }]) => idempotencyKey).map(([name]) => name);
    expect(keyed.toSorted()).toEqual(WITH_A_KEY.toSorted());
  });

  it('a token on all calls except login and public calls', () => {
    const open = endpoints.filter(([, { withoutToken }]) => withoutToken).map(([name]) => name);
    expect(open.toSorted()).toEqual(['login', ...WITHOUT_A_TOKEN].toSorted());
  });

  it('the stated calls are those of the specification, with both login addresses', () => {
    const stated = endpoints.filter(([, { mark }]) => mark === 'shape assumed');
    expect(stated.map(([, { method, path }]) => `${method} ${path}`).toSorted()).toEqual([
      'GET /esims/{id}/topup-options',
      'GET /updates/latest',
      'GET /vpn/plans',
      'POST /esims/{id}/cancel',
      'POST /login',
      'POST /orders',
      'POST /topups',
      'POST /vpn/orders',
      'POST /vpn/subscriptions/{id}/cancel',
    ]);
  });
});
