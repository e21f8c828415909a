/** What a look at the service shows before anything is bought, over HTTP against the simulator. */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ALL_CAPABILITIES } from '#domain/capabilities.ts';
import { PURCHASE_KINDS, type PurchaseKind, type Sighting } from '#domain/first-contact.ts';
import { ENDPOINTS, PURCHASE_NEEDS, type EndpointName } from '#upstream/contract.ts';
import { lookAtService, type LookOptions } from '#upstream/first-contact.ts';
import { orderRequestBytes, topupRequestBytes, vpnOrderRequestBytes } from '#upstream/request-bytes.ts';
import { openService, type Service } from '#upstream/service.ts';
import { contractOpenApi } from '#test/support/contract-openapi.ts';
import { MemoryTokenStore } from '#test/support/memory-token-store.ts';
import { EMAIL, PACKAGE, PASSWORD, PLAN, startTestSimulator } from '#test/simulator/support.ts';

let simulator: Awaited<ReturnType<typeof startTestSimulator>>;
let service: Service;
beforeEach(async () => {
  simulator = await startTestSimulator({ approved: true, productionBalance: '1000.00' });
  service = openService({
    baseUrl: simulator.simulator.baseUrl,
    mode: 'production',
    email: EMAIL,
    password: PASSWORD,
    deviceName: 'backend',
    capabilities: ALL_CAPABILITIES,
    deadlineMs: 10_000,
    tokens: new MemoryTokenStore(),
    now: Date.now,
  });
});
afterEach(async () => {
  await service.close();
  await simulator[Symbol.asyncDispose]();
});

async function look(options: Partial<LookOptions> = {}): Promise<Readonly<Record<PurchaseKind, Sighting>>> {
  const seen = await lookAtService(service.client, {
    kinds: PURCHASE_KINDS,
    capabilities: ALL_CAPABILITIES,
    deadlineMs: 10_000,
    ...options,
  });
  return Object.fromEntries(seen) as Record<PurchaseKind, Sighting>;
}

/** What the service answers to a call from now on. */
const answers = (endpoint: EndpointName, status: number, body: unknown) =>
  simulator.admin.post('/faults', {
    target: 'request',
    endpoint,
    fault: { kind: 'answer', status, body: JSON.stringify(body) },
    count: null,
  });
const hideDocument = () => answers('getOpenApi', 404, { error: { code: 'not_found' } });

async function buyOne(kind: PurchaseKind): Promise<void> {
  const { client } = service;
  const idempotencyKey = randomUUID();
  const reference = randomUUID();
  const order = await client.createOrder({
    idempotencyKey: randomUUID(),
    reference,
    packageId: PACKAGE,
    body: orderRequestBytes({ packageId: PACKAGE, reference }),
  });
  if (!order.ok) throw new Error(order.detail);
  const esimId = order.value.esim_id ?? '';
  if (kind === 'topup') {
    const options = await client.listTopupOptions(esimId);
    const packageId = options.ok ? (options.value.items[0]?.id ?? 0) : 0;
    const topup = await client.createTopup({
      idempotencyKey,
      esimId,
      packageId,
      body: topupRequestBytes({ esimId, packageId }),
    });
    if (!topup.ok) throw new Error(topup.detail);
    await simulator.advance(60_000);
  }
  if (kind === 'vpn_subscription') {
    const body = vpnOrderRequestBytes({ vpnPlanId: PLAN, reference, customerReference: 'c-1', customerPrice: '5.50' });
    const bought = await client.createVpnOrder({ idempotencyKey, reference, vpnPlanId: PLAN, body });
    if (!bought.ok) throw new Error(bought.detail);
  }
}

describe('a look at the service before the first purchase', () => {
  it('takes its own document as evidence for every kind, and spends nothing', async () => {
    const seen = await look();
    for (const kind of PURCHASE_KINDS) {
      expect(seen[kind].problems, kind).toEqual([]);
      expect(seen[kind].evidence, kind).toEqual([expect.stringContaining('OpenAPI document')]);
    }
    const debits = (await simulator.ledger('production')).filter(({ type }) => type === 'debit');
    expect(debits).toEqual([]);
  });

  it('has no evidence without a document and without purchases, and says which calls showed none', async () => {
    await hideDocument();
    const seen = await look();
    expect(seen.order).toMatchObject({ problems: [], evidence: [] });
    expect(seen.order.missing).toEqual([
      expect.stringMatching(/^GET \/openapi\.json: it answered 404/),
      'GET /orders: it shows no purchase that was completed',
    ]);
    expect(seen.topup.missing.at(-1)).toBe('GET /topups: it shows no purchase that was completed');
    expect(seen.vpn_subscription.missing.at(-1)).toBe(
      'GET /vpn/subscriptions: it shows no purchase that was completed',
    );
  });

  it.each(PURCHASE_KINDS)('takes a purchase of the kind that the service lists as evidence: %s', async (kind) => {
    await hideDocument();
    await buyOne(kind);
    expect(await look()).toMatchObject({
      [kind]: { problems: [], evidence: [expect.stringMatching(/^GET \/.* shows a completed purchase/)] },
    });
  });

  const unpriced = { data: [{ id: 1, name: 'One', currency: 'EUR' }], next_cursor: null };
  const order = { id: 'o-1', status: 'completed', external_order_id: 'ours', esim_id: 'e-1' };
  const listed = (item: object) => ({ data: [item], next_cursor: null });
  it.each<[string, EndpointName, unknown, PurchaseKind, RegExp]>([
    ['a package without a price', 'listPackages', unpriced, 'order', /^GET \/packages: .*price_for_reseller/],
    ['options of top-ups, by the packages', 'listPackages', unpriced, 'topup', /^GET \/packages: .*price_for_reseller/],
    ['a plan without a price', 'listVpnPlans', unpriced, 'vpn_subscription', /^GET \/vpn\/plans: .*price_for_reseller/],
    ['a wallet without a balance', 'getWallet', { currency: 'EUR' }, 'topup', /^GET \/wallet: .*balance/],
    [
      'movements without an amount',
      'listWalletTransactions',
      listed({ id: 'm', type: 'debit' }),
      'order',
      /^GET \/wallet\/transactions: .*amount/,
    ],
    [
      'no package at all',
      'listPackages',
      { data: [], next_cursor: null },
      'order',
      /^GET \/packages: the list is empty/,
    ],
    [
      'completed orders without an eSIM',
      'listOrders',
      listed({ ...order, esim_id: null }),
      'order',
      /^GET \/orders: completed purchases lack data\[\]\.esim_id/,
    ],
    ['orders without a status', 'listOrders', listed({ id: 'o-1' }), 'order', /^GET \/orders: .*status/],
    [
      'top-ups without their eSIM',
      'listTopups',
      listed({ id: 't-1', status: 'completed' }),
      'topup',
      /^GET \/topups: completed purchases lack data\[\]\.esim_id/,
    ],
  ])('names what differs although the document matches: %s', async (_, endpoint, body, kind, problem) => {
    await answers(endpoint, 200, body);
    const sighting = (await look())[kind];
    expect(sighting.evidence).toHaveLength(1);
    expect(sighting.problems).toEqual([expect.stringMatching(problem)]);
  });

  it('names an eSIM that does not read, and access data that an active subscription lacks', async () => {
    await answers('listOrders', 200, listed(order));
    await answers('getEsim', 200, { id: 'e-1', status: 'new' });
    const subscription = { id: 's-1', external_subscription_id: 'ours', status: 'active' };
    await answers('listVpnSubscriptions', 200, listed(subscription));
    await answers('getVpnSubscription', 200, subscription);
    const seen = await look();
    expect(seen.order.problems).toEqual([expect.stringMatching(/^GET \/esims\/\{id\}: .*iccid.*activation_code/)]);
    expect(seen.vpn_subscription.problems).toEqual([
      'GET /vpn/subscriptions/{id}: access is missing in an active subscription',
    ]);
  });

  it('does not hold against the service what was bought elsewhere, without a reference of ours', async () => {
    await answers('listOrders', 200, listed({ ...order, external_order_id: null }));
    const { order: sighting } = await look();
    expect(sighting).toMatchObject({ problems: [], evidence: [expect.stringContaining('OpenAPI document')] });
    expect(sighting.missing).toEqual(['GET /orders: completed purchases lack data[].external_order_id']);
  });

  it('compares a document that was got by hand, and names the calls that a kind needs and no others', async () => {
    const document = contractOpenApi();
    Reflect.deleteProperty(document.paths, '/vpn/orders');
    Reflect.deleteProperty(document.paths, '/refunds');
    const seen = await look({ document: { ...document } });
    expect(seen.vpn_subscription.problems).toEqual([
      expect.stringMatching(/^POST \/vpn\/orders: is not in the document/),
    ]);
    expect([seen.order.problems, seen.topup.problems]).toEqual([[], []]);
  });

  const needed = PURCHASE_KINDS.flatMap((kind) => PURCHASE_NEEDS[kind].calls.map((call) => [kind, call] as const));
  it.each(needed)('of a document without a call that the kind needs says so: %s, %s', async (kind, call) => {
    const document = contractOpenApi();
    const { method, path } = ENDPOINTS[call];
    Reflect.deleteProperty(document.paths[path] ?? {}, method.toLowerCase());
    const { problems } = (await look({ kinds: [kind], document: { ...document } }))[kind];
    expect(problems).toContainEqual(expect.stringContaining(`${method} ${path}: `));
  });

  it('calls nothing for kinds that are not held, and stops between two calls when it is told to', async () => {
    expect(await look({ kinds: [] })).toEqual({});
    expect(await look({ signal: AbortSignal.abort() })).toEqual({});
    expect((await simulator.requests()).map(({ endpoint }) => endpoint)).not.toContain('getWallet');
  });
});
