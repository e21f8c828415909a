import { describe, expect, it } from 'vitest';
import type { ServiceClient } from '#upstream/client.ts';
import { ALL_ENDPOINTS, type AnyEndpointName, type EndpointContract } from '#upstream/contract.ts';
import { orderRequestBytes, topupRequestBytes, vpnOrderRequestBytes } from '#upstream/request-bytes.ts';
import { headerOf, jsonAnswer, startTestClient } from '#test/support/upstream-client.ts';

/** One call of the client, what the service answers, and what must have gone over the wire for it. */
interface Exchange {
  readonly call: (client: ServiceClient) => Promise<{ readonly ok: boolean }>;
  readonly answer: unknown;
  /** Method, path and query below the address of the environment. */
  readonly sends: string;
  readonly body?: string;
}

const KEY = 'key-1';
const ORDER = { id: 'so_1', external_order_id: 'shop-1', status: 'completed', esim_id: 'e_1' };
const PACKAGE = { id: 7, name: 'Europe 1 GB', price_for_reseller: '4.50', currency: 'EUR' };
const ESIM = { id: 'e_1', iccid: '8944500000000000001', activation_code: 'LPA:1$a.example$x', status: 'new' };
const TOPUP = { id: 't_1', esim_id: 'e_1', package_id: 7, status: 'processing' };
const REFUND = { id: 'r_1', esim_id: 'e_1', status: 'completed', review: 'accepted' };
const SUBSCRIPTION = { id: 'v_1', external_subscription_id: 'sub-1', status: 'active' };
const page = (item: unknown) => ({ data: [item], next_cursor: null });

const order = orderRequestBytes({ packageId: 7, reference: 'shop-1', deviceImei: '490154203237518' });
const topup = topupRequestBytes({ esimId: 'e_1', packageId: 7 });
const vpnOrder = vpnOrderRequestBytes({ vpnPlanId: 3, reference: 'sub-1', customerReference: 'c-9', customerPrice: '9.90' });

const EXCHANGES: Readonly<Record<Exclude<AnyEndpointName, 'login'>, Exchange>> = {
  listPackages: { call: (client) => client.listPackages(), answer: page(PACKAGE), sends: 'GET /packages?limit=100' },
  listPublicPackages: {
    call: (client) => client.listPublicPackages(),
    answer: page({ id: 7, name: 'Europe 1 GB' }),
    sends: 'GET /public/packages?limit=100',
  },
  createOrder: {
    call: (client) => client.createOrder({ idempotencyKey: KEY, body: order, reference: 'shop-1' }),
    answer: ORDER,
    sends: 'POST /orders',
    body: '{"package_id":7,"external_order_id":"shop-1","device_imei":"490154203237518"}',
  },
  getOrder: { call: (client) => client.getOrder('so_1'), answer: ORDER, sends: 'GET /orders/so_1' },
  listOrders: {
    call: (client) => client.findOrdersByReference('shop-1'),
    answer: page(ORDER),
    sends: 'GET /orders?external_order_id=shop-1&limit=100',
  },
  getEsim: { call: (client) => client.getEsim('e_1'), answer: ESIM, sends: 'GET /esims/e_1' },
  getEsimUsage: { call: (client) => client.getEsimUsage('e_1'), answer: { data_used_mb: 0 }, sends: 'GET /esims/e_1/usage' },
  listTopupOptions: {
    call: (client) => client.listTopupOptions('e_1'),
    answer: page(PACKAGE),
    sends: 'GET /esims/e_1/topup-options',
  },
  createTopup: {
    call: (client) => client.createTopup({ idempotencyKey: KEY, body: topup, esimId: 'e_1', packageId: 7 }),
    answer: TOPUP,
    sends: 'POST /topups',
    body: '{"esim_id":"e_1","package_id":7}',
  },
  getTopup: { call: (client) => client.getTopup('t_1'), answer: TOPUP, sends: 'GET /topups/t_1' },
  listTopups: {
    call: (client) => client.findTopupsOfEsim('e_1'),
    answer: page(TOPUP),
    sends: 'GET /topups?esim_id=e_1&limit=100',
  },
  cancelEsim: {
    call: (client) => client.cancelEsim({ idempotencyKey: KEY, esimId: 'e_1' }),
    answer: { esim_id: 'e_1', status: 'cancelled', refund: REFUND },
    sends: 'POST /esims/e_1/cancel',
  },
  getRefund: { call: (client) => client.getRefund('r_1'), answer: REFUND, sends: 'GET /refunds/r_1' },
  listRefunds: {
    call: (client) => client.findRefundsOfEsim('e_1'),
    answer: page(REFUND),
    sends: 'GET /refunds?esim_id=e_1&limit=100',
  },
  listVpnPlans: {
    call: (client) => client.listVpnPlans(),
    answer: page({ id: 3, name: 'Monthly', price_for_reseller: 2.5, currency: 'EUR' }),
    sends: 'GET /vpn/plans',
  },
  createVpnOrder: {
    call: (client) => client.createVpnOrder({ idempotencyKey: KEY, body: vpnOrder, reference: 'sub-1' }),
    answer: SUBSCRIPTION,
    sends: 'POST /vpn/orders',
    body: '{"vpn_plan_id":3,"external_subscription_id":"sub-1","customer_reference":"c-9","customer_price":9.90}',
  },
  getVpnSubscription: {
    call: (client) => client.getVpnSubscription('v_1'),
    answer: { ...SUBSCRIPTION, access: { username: 'u', password: 'p' } },
    sends: 'GET /vpn/subscriptions/v_1',
  },
  listVpnSubscriptions: {
    call: (client) => client.findVpnSubscriptionsByReference('sub-1'),
    answer: page(SUBSCRIPTION),
    sends: 'GET /vpn/subscriptions?external_subscription_id=sub-1&limit=100',
  },
  cancelVpnSubscription: {
    call: (client) => client.cancelVpnSubscription('v_1'),
    answer: { ...SUBSCRIPTION, status: 'cancelled' },
    sends: 'POST /vpn/subscriptions/v_1/cancel',
  },
  getWallet: { call: (client) => client.getWallet(), answer: { balance: '10.00', currency: 'EUR' }, sends: 'GET /wallet' },
  listWalletTransactions: {
    call: (client) => client.listWalletTransactions({ reference: 'shop-1' }),
    answer: page({ id: 1, type: 'debit', amount: '4.50', currency: 'EUR', reason: 'order', created_at: '2025-06-01T12:00:00Z' }),
    sends: 'GET /wallet/transactions?external_order_id=shop-1&limit=100',
  },
  getLatestUpdate: {
    call: (client) => client.getLatestUpdate({ currentVersion: '1.4.2', channel: 'stable' }),
    answer: { latest_version: '1.5', update_available: true },
    sends: 'GET /updates/latest?current_version=1.4.2&channel=stable',
  },
  getOpenApi: {
    call: (client) => client.getOpenApi(),
    answer: { openapi: '3.1.0', info: { title: 'x' }, paths: {} },
    sends: 'GET /openapi.json',
  },
  simulateEsim: {
    call: (client) => client.simulateEsim('e_1', 'installed'),
    answer: { id: 'e_1', status: 'installed' },
    sends: 'POST /esims/e_1/simulate',
    body: '{"state":"installed"}',
  },
  createWebhookSecret: {
    call: (client) => client.createWebhookSecret(),
    answer: { secret: 'whsec_0123456789' },
    sends: 'POST /webhook-secret',
  },
  rotateWebhookSecret: {
    call: (client) => client.rotateWebhookSecret(),
    answer: { secret: 'whsec_9876543210' },
    sends: 'POST /webhook-secret/rotate',
  },
};
const names = Object.keys(EXCHANGES) as (keyof typeof EXCHANGES)[];

/** Makes the call and gives the one request that it sent beside a login. */
async function requestOf(name: keyof typeof EXCHANGES) {
  const { call, answer } = EXCHANGES[name];
  await using opened = await startTestClient(() => jsonAnswer(answer));
  const result = await call(opened.client);
  const [request, ...more] = opened.server.requests.filter(({ head }) => !head.includes('/login '));
  expect({ result, more }).toMatchObject({ result: { ok: true }, more: [] });
  return request;
}

/** The four that the specification lists. */
const WITH_A_KEY = ['createOrder', 'createVpnOrder', 'createTopup', 'cancelEsim'];
/** Where "public" and "available for download" are read as "without a token". */
const WITHOUT_A_TOKEN = ['listPublicPackages', 'getOpenApi'];

describe('the request of each call', () => {
  it.each(names)('%s goes to its method, path and query [spec: endpoints.paths]', async (name) => {
    const request = await requestOf(name);
    const [method = '', target = ''] = request?.head.split(' ') ?? [];
    expect(`${method} ${target.replace('/api/reseller/v1/sandbox', '')}`).toBe(EXCHANGES[name].sends);
  });

  it.each(names)('%s has its exact JSON body, declared as JSON, or none [spec: endpoints.json-bodies]', async (name) => {
    const request = await requestOf(name);
    const { body } = EXCHANGES[name];
    expect(request?.body.toString()).toBe(body ?? '');
    expect(headerOf(request, 'content-type')).toBe(body === undefined ? undefined : 'application/json');
  });

  it.each(names)('%s carries "Authorization: Bearer" where the endpoint is protected [spec: auth.bearer]', async (name) => {
    const request = await requestOf(name);
    expect(headerOf(request, 'authorization')).toBe(WITHOUT_A_TOKEN.includes(name) ? undefined : 'Bearer token-1');
  });

  it.each(names)('%s carries an Idempotency-Key only where the specification says so [spec: endpoints.idempotency-key]', async (name) => {
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
  ] as const)(
    'in %s (lifetime %s) goes to %s with e-mail, password and device name, and no Authorization [spec: auth.login]',
    async (mode, tokenDays, target, body) => {
      const answer = () => jsonAnswer({ balance: '1', currency: 'EUR' });
      await using opened = await startTestClient(answer, { mode, ...(tokenDays === undefined ? {} : { tokenDays }) });
      await opened.client.getWallet();
      const [login] = opened.server.requests;
      expect(login?.head.split(' ').slice(0, 2)).toEqual(['POST', target]);
      expect(JSON.parse(login?.body.toString() ?? '')).toEqual(body);
      expect(headerOf(login, 'authorization')).toBeUndefined();
      expect(headerOf(login, 'content-type')).toBe('application/json');
      expect(headerOf(login, 'idempotency-key')).toBeUndefined();
    },
  );

  it.each([
    ['production', '/api/reseller/v1/wallet'],
    ['sandbox', '/api/reseller/v1/sandbox/wallet'],
  ] as const)('and all calls of %s stay in their environment: %s [spec: environments.addresses]', async (mode, target) => {
    await using opened = await startTestClient(() => jsonAnswer({ balance: '1', currency: 'EUR' }), { mode });
    await opened.client.getWallet();
    expect(opened.server.requests[1]?.head.split(' ')[1]).toBe(target);
  });
});

describe('the contract says of each call what the client does:', () => {
  const endpoints = Object.entries(ALL_ENDPOINTS) as [AnyEndpointName, EndpointContract][];

  it('a key on order, VPN order, top-up and eSIM cancellation [spec: endpoints.idempotency-key]', () => {
    const keyed = endpoints.filter(([, { idempotencyKey }]) => idempotencyKey).map(([name]) => name);
    expect(keyed.toSorted()).toEqual(WITH_A_KEY.toSorted());
  });

  it('a token on all but the login and what is public [spec: auth.bearer]', () => {
    const open = endpoints.filter(([, { authorized }]) => !authorized).map(([name]) => name);
    expect(open.toSorted()).toEqual(['login', ...WITHOUT_A_TOKEN].toSorted());
  });

  it('the stated calls are those of the specification, its two logins being one under two addresses [spec: endpoints.stated]', () => {
    const stated = endpoints.filter(([, { request }]) => request === 'stated');
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
