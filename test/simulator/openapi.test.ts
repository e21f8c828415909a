import { describe, expect, it } from 'vitest';
import { DescribedClient, Description, descriptionOf, documentShape } from '#test/simulator/described.ts';
import { PACKAGE, PLAN, startReceiver, startTestSimulator, type SimulatorClient } from '#test/simulator/support.ts';
import { ENDPOINTS, EVENT_KINDS, serviceErrorBody, type EndpointName } from '#upstream/contract.ts';

const operationsOf = (description: Description): string[] =>
  Object.values(description.document.paths).flatMap((item) =>
    Object.values(item).map(({ operationId }) => operationId),
  );

describe('the OpenAPI document', () => {
  it('has every call of the contract', async () => {
    await using simulator = await startTestSimulator();
    const sandbox = new Description((await simulator.sandbox.get('/openapi.json')).read(documentShape));
    const production = new Description((await simulator.production.get('/openapi.json')).read(documentShape));
    const all = Object.keys(ENDPOINTS).toSorted();
    expect(operationsOf(sandbox).toSorted()).toEqual(all);
    expect(operationsOf(production).toSorted()).toEqual(all.filter((name) => name !== 'simulateEsim'));
    expect(Object.keys(sandbox.document.webhooks).toSorted()).toEqual(EVENT_KINDS.toSorted());
    // All tests validate their answers by these documents.
    expect(sandbox.document).toEqual(descriptionOf('sandbox').document);
    expect(production.document).toEqual(descriptionOf('production').document);
  });

  it('has tokens, keys and query parameters of each call', async () => {
    await using simulator = await startTestSimulator();
    const { paths } = (await simulator.sandbox.get('/openapi.json')).read(documentShape);
    expect(paths['/login']?.['post']?.security).toEqual([]);
    expect(paths['/public/packages']?.['get']?.security).toEqual([{ token: [] }]);
    const named = (path: string, method: string) =>
      paths[path]?.[method]?.parameters?.map(({ name, in: where, required }) => [where, name, required === true]);
    expect(named('/updates/latest', 'get')).toEqual([
      ['query', 'current_version', true],
      ['query', 'channel', true],
    ]);
    expect(named('/esims/{id}/cancel', 'post')).toEqual([
      ['path', 'id', true],
      ['header', 'Idempotency-Key', true],
    ]);
    expect(named('/vpn/subscriptions/{id}/cancel', 'post')).toEqual([['path', 'id', true]]);
    await simulator.admin.post('/dialect', { name: 'open_reads' });
    const open = (await simulator.open.get('/sandbox/openapi.json')).read(documentShape);
    expect(open.paths['/public/packages']?.['get']?.security).toEqual([]);
  });

  it('accepts and refuses the same bodies as the simulator', () => {
    const { document } = descriptionOf('sandbox');
    const judge = (path: string, body: unknown) =>
      descriptionOf('sandbox').judge(
        document.paths[path]?.['post']?.requestBody?.content['application/json'].schema,
        body,
      );
    const order = { package_id: PACKAGE, external_order_id: 'r', device_imei: '356938035643809' };
    const vpn = { vpn_plan_id: PLAN, external_subscription_id: 'r', customer_reference: 'c', customer_price: 1.5 };
    const good: readonly (readonly [string, Record<string, unknown>])[] = [
      ['/orders', order],
      ['/topups', { esim_id: 'x', package_id: 1 }],
      ['/vpn/orders', vpn],
      ['/esims/{id}/simulate', { state: 'consumed' }],
    ];
    for (const [path, body] of good) {
      expect(judge(path, body)).toBe('valid');
      expect(judge(path, { ...body, color: 'red' })).not.toBe('valid');
      expect(judge(path, {})).not.toBe('valid');
    }
    expect(judge('/orders', { ...order, device_imei: '1' })).not.toBe('valid');
    expect(judge('/vpn/orders', { ...vpn, customer_price: '1.5' })).not.toBe('valid');
  });
});

describe('every call', () => {
  it('is answered as described', async () => {
    await using simulator = await startTestSimulator();
    const done = new Set<EndpointName>();
    // The client fails on an undescribed answer; here each endpoint must succeed once.
    for (const [name, call] of Object.entries(callsOf(simulator))) {
      const answer = await call();
      expect([name, answer.status]).toEqual([name, answer.status < 300 ? answer.status : 'done']);
      done.add(name as EndpointName);
    }
    expect([...done].toSorted()).toEqual(Object.keys(ENDPOINTS).toSorted());

    const esim = await simulator.esim();
    await simulator.admin.post('/packages/1003', { price_for_reseller: '999999.00' });
    await simulator.admin.post('/vpn-plans/302', { price_for_reseller: '999999.00' });
    const refusals = [
      await simulator.order({ package_id: 1003 }),
      await simulator.topUp(esim, 1003),
      await simulator.topUp(esim, 9006),
      await simulator.topUp(esim, 1025),
      await simulator.orderVpn({ vpn_plan_id: 302 }),
      await simulator.orderVpn({ vpn_plan_id: 396 }),
      await simulator.order({ padding: 'x'.repeat(70_000) }),
      await simulator.order({}, 'k', { headers: { 'content-type': 'text/plain' } }),
      await simulator.production.post('/esims/x/cancel', {}, { headers: { 'idempotency-key': 'k' } }),
    ];
    expect(refusals.map(({ status }) => status)).toEqual([402, 402, 422, 422, 402, 422, 413, 415, 403]);
  });
});

describe('every event', () => {
  it('is sent with a body as in the document', async () => {
    await using receiver = await startReceiver();
    await using simulator = await startTestSimulator({ webhook: { url: receiver.url, secret: 'whsec_test' } });
    await simulator.admin.post('/webhooks/ping');
    const esims = [await simulator.esim(), await simulator.esim(), await simulator.esim()];
    await simulator.order({ package_id: 9002 });
    await simulator.topUp(esims[0] ?? '', 9001);
    await simulator.topUp(esims[1] ?? '', 9003);
    await simulator.cancel(esims[2] ?? '');
    await simulator.admin.post('/behaviour', { operation: 'cancellation', outcome: 'refund_failed', count: 1 });
    await simulator.cancel(await simulator.esim());
    const subscription = (await simulator.orderVpn()).textAt('id');
    await simulator.sandbox.post(`/vpn/subscriptions/${subscription}/cancel`);
    await simulator.orderVpn({ vpn_plan_id: 393 });
    const expiring = (await simulator.orderVpn()).textAt('id');
    await simulator.admin.post(`/vpn-subscriptions/${expiring}/expire`);

    const kinds = (): string[] => [...new Set(receiver.received.map(({ event }) => event))].toSorted();
    await expect.poll(kinds).toEqual(EVENT_KINDS.toSorted());
    for (const { event, body } of receiver.received) {
      expect([event, descriptionOf('sandbox').judgeWebhook(event, JSON.parse(body.toString()))]).toEqual([
        event,
        'valid',
      ]);
    }
    expect(receiver.received.map(({ body }) => body.toString()).join()).not.toContain('"access"');
  });

  it('has a body without its name in the dialect silent_bodies, as described', async () => {
    await using simulator = await startTestSimulator({ dialect: 'silent_bodies' });
    const description = new Description((await simulator.sandbox.get('/openapi.json')).read(documentShape));
    const body = JSON.parse((await simulator.admin.post('/webhooks/ping')).textAt('body')) as Record<string, unknown>;
    expect(body).not.toHaveProperty('event');
    expect(description.judgeWebhook('ping', body)).toBe('valid');
    expect(descriptionOf('sandbox').judgeWebhook('ping', body)).not.toBe('valid');
  });
});

describe('every error body', () => {
  it('has the shape of the contract, the admin API’s too', async () => {
    await using simulator = await startTestSimulator();
    const answers = [
      await simulator.sandbox.get('/nothing'),
      await simulator.sandbox.call('DELETE', '/wallet', {}),
      await simulator.admin.get('/nothing'),
      await simulator.admin.post('/faults', { target: 'request' }),
      await simulator.admin.post('/faults', '{'),
    ];
    for (const answer of answers) expect(serviceErrorBody.safeParse(answer.body).success).toBe(true);
    expect(answers.map(({ status }) => status)).toEqual([404, 405, 404, 422, 400]);
  });
});

/** Every endpoint once, in an order in which each can succeed. */
function callsOf(simulator: SimulatorClient) {
  const { sandbox } = simulator;
  const login = { email: 'reseller@example.com', password: 'simulator-password', device_name: 'x' };
  const made = { order: '', esim: '', topup: '', refund: '', vpn: '' };
  return {
    login: () => new DescribedClient(sandbox.baseUrl, 'sandbox').post('/login', login),
    listPackages: () => sandbox.get('/packages'),
    createOrder: async () => {
      const answer = await simulator.order();
      Object.assign(made, { order: answer.textAt('id'), esim: answer.textAt('esim_id') });
      return answer;
    },
    getOrder: () => sandbox.get(`/orders/${made.order}`),
    listOrders: () => sandbox.get('/orders'),
    getEsim: () => sandbox.get(`/esims/${made.esim}`),
    getEsimUsage: () => sandbox.get(`/esims/${made.esim}/usage`),
    listTopupOptions: () => sandbox.get(`/esims/${made.esim}/topup-options`),
    createTopup: async () => {
      const answer = await simulator.topUp(await simulator.esim());
      made.topup = answer.textAt('id');
      return answer;
    },
    getTopup: () => sandbox.get(`/topups/${made.topup}`),
    listTopups: () => sandbox.get('/topups'),
    cancelEsim: async () => {
      const answer = await simulator.cancel(made.esim);
      made.refund = answer.textAt('refund', 'id');
      return answer;
    },
    getRefund: () => sandbox.get(`/refunds/${made.refund}`),
    listRefunds: () => sandbox.get('/refunds'),
    simulateEsim: async () => simulator.simulate(await simulator.esim(), 'consumed'),
    getWallet: () => sandbox.get('/wallet'),
    listWalletTransactions: () => sandbox.get('/wallet/transactions'),
    listVpnPlans: () => sandbox.get('/vpn/plans'),
    createVpnOrder: async () => {
      const answer = await simulator.orderVpn();
      made.vpn = answer.textAt('id');
      return answer;
    },
    getVpnSubscription: () => sandbox.get(`/vpn/subscriptions/${made.vpn}`),
    listVpnSubscriptions: () => sandbox.get('/vpn/subscriptions'),
    cancelVpnSubscription: () => sandbox.post(`/vpn/subscriptions/${made.vpn}/cancel`),
    listPublicPackages: () => sandbox.get('/public/packages'),
    getLatestUpdate: () => sandbox.get('/updates/latest?current_version=1.0&channel=stable'),
    getOpenApi: () => sandbox.get('/openapi.json'),
    createWebhookSecret: () => sandbox.post('/webhook-secret'),
    rotateWebhookSecret: () => sandbox.post('/webhook-secret/rotate'),
  } satisfies Record<EndpointName, () => Promise<unknown>>;
}
