import { describe, expect, it } from 'vitest';
import { EXCHANGES, exchangeNames, KEY } from '#test/support/network/client-exchanges.ts';
import { headerOf, jsonAnswer, startTestClient } from '#test/support/upstream-client.ts';
import { ENDPOINTS, type EndpointContract, type EndpointName } from '#upstream/contract.ts';

/** The four calls with a key in the specification. */
const WITH_A_KEY = ['createOrder', 'createVpnOrder', 'createTopup', 'cancelEsim'];
/** Calls that need no token, because they are "public" or "available for download". */
const WITHOUT_A_TOKEN = ['listPublicPackages', 'getOpenApi'];

it.each(exchangeNames)(
  'the request of %s has its method, path, query and body, and its token and key',
  async (name) => {
    const { call, answer, sends, body } = EXCHANGES[name];
    await using opened = await startTestClient(() => jsonAnswer(answer));
    expect(await call(opened.client)).toMatchObject({ ok: true });
    const [request, ...more] = opened.server.requests.filter(({ head }) => !head.includes('/login '));
    expect(more).toEqual([]);
    const [method = '', target = ''] = request?.head.split(' ') ?? [];
    expect(`${method} ${target.replace('/api/reseller/v1/sandbox', '')}`).toBe(sends);
    expect(request?.body.toString()).toBe(body ?? '');
    expect(headerOf(request, 'content-type')).toBe(body === undefined ? undefined : 'application/json');
    expect(headerOf(request, 'authorization')).toBe(WITHOUT_A_TOKEN.includes(name) ? undefined : 'Bearer token-1');
    expect(headerOf(request, 'idempotency-key')).toBe(WITH_A_KEY.includes(name) ? KEY : undefined);
  },
);

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

  it('a key on order, VPN order, top-up and eSIM cancellation; a token on all calls except login and public calls', () => {
    const namesOf = (has: (endpoint: EndpointContract) => boolean | undefined) =>
      endpoints.filter(([, endpoint]) => has(endpoint) === true).map(([name]) => name);
    expect(namesOf(({ idempotencyKey }) => idempotencyKey).toSorted()).toEqual(WITH_A_KEY.toSorted());
    expect(namesOf(({ withoutToken }) => withoutToken).toSorted()).toEqual(['login', ...WITHOUT_A_TOKEN].toSorted());
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
