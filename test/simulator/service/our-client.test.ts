/** The product's own client against the simulator, over HTTP: every endpoint of the contract, in both forms. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { ALL_CAPABILITIES } from '#domain/service/capability-profile.ts';
import type { ServiceMode } from '#domain/service/service-address.ts';
import type { SimulatorOptions } from '#simulator/options.ts';
import { startSimulator } from '#simulator/service/server.ts';
import { EMAIL, PACKAGE, PASSWORD, PLAN } from '#test/simulator/support.ts';
import { MemoryTokenStore } from '#test/support/memory-token-store.ts';
import { HttpClient } from '#test/support/network/http.ts';
import { orderRequestBytes, topupRequestBytes, vpnOrderRequestBytes } from '#upstream/client/request-bytes.ts';
import { ENDPOINTS } from '#upstream/contract.ts';
import { openService } from '#upstream/service.ts';

async function start(mode: ServiceMode, options: SimulatorOptions = {}) {
  const simulator = await startSimulator({ seed: 'test', approved: true, productionBalance: '1000.00', ...options });
  const service = openService({
    baseUrl: simulator.baseUrl,
    mode,
    email: EMAIL,
    password: PASSWORD,
    deviceName: 'backend',
    tokenDays: 7,
    capabilities: ALL_CAPABILITIES,
    deadlineMs: 10_000,
    tokens: new MemoryTokenStore(),
    now: Date.now,
  });
  return {
    client: service.client,
    admin: new HttpClient(`${simulator.url}/simulator`),
    [Symbol.asyncDispose]: async () => {
      await service.close();
      await simulator.close();
    },
  };
}

/** The value of a success. @throws Error for any other result, with the result. */
function valueOf<Value>(result: { readonly ok: true; readonly value: Value } | { readonly ok: false }): Value {
  if (result.ok) return result.value;
  throw new Error(`no success: ${JSON.stringify(result)}`);
}

type Client = Awaited<ReturnType<typeof start>>['client'];

async function buyEsim(client: Client) {
  const reference = randomUUID();
  const body = orderRequestBytes({ packageId: PACKAGE, reference });
  const order = valueOf(
    await client.createOrder({ idempotencyKey: randomUUID(), body, reference, packageId: PACKAGE }),
  );
  return { order, reference, esimId: String(order.esim_id) };
}

async function topUp(client: Client, esimId: string) {
  const packageId = valueOf(await client.listTopupOptions(esimId)).items[0]?.id ?? 0;
  const body = topupRequestBytes({ esimId, packageId });
  return valueOf(await client.createTopup({ idempotencyKey: randomUUID(), body, esimId, packageId }));
}

async function orderVpn(client: Client) {
  const reference = randomUUID();
  const customer = { customerReference: 'customer', customerPrice: '12.50' };
  const body = vpnOrderRequestBytes({ vpnPlanId: PLAN, reference, ...customer });
  return valueOf(await client.createVpnOrder({ idempotencyKey: randomUUID(), body, reference, vpnPlanId: PLAN }));
}

describe.each(['sandbox', 'production'] as const)('our client and the simulator in %s', (mode) => {
  it('agree on every endpoint', async () => {
    await using run = await start(mode);
    const { client } = run;
    expect(valueOf(await client.listPackages()).complete).toBe(true);
    expect(valueOf(await client.listPublicPackages()).items.length).toBeGreaterThan(50);
    const { order, reference, esimId } = await buyEsim(client);
    expect(valueOf(await client.getOrder(order.id))).toEqual(order);
    expect(valueOf(await client.findOrdersByReference(reference)).items).toEqual([order]);
    expect(valueOf(await client.getEsim(esimId)).order_id).toBe(order.id);
    expect(valueOf(await client.getEsimUsage(esimId)).data_used_mb).toBe(0);

    const topup = await topUp(client, (await buyEsim(client)).esimId);
    expect(valueOf(await client.getTopup(topup.id))).toEqual(topup);
    expect(valueOf(await client.findTopupsOfEsim(String(topup.esim_id))).items).toEqual([topup]);
    const cancellation = valueOf(await client.cancelEsim({ idempotencyKey: randomUUID(), esimId }));
    expect(cancellation).toMatchObject({ status: 'cancelled', refund: { status: 'completed' } });
    expect(valueOf(await client.getRefund(cancellation.refund?.id ?? ''))).toEqual(cancellation.refund);
    expect(valueOf(await client.findRefundsOfEsim(esimId)).items).toEqual([cancellation.refund]);

    expect(valueOf(await client.listVpnPlans()).items.map(({ id }) => id)).toContain(PLAN);
    const subscription = await orderVpn(client);
    expect(valueOf(await client.getVpnSubscription(subscription.id))).toEqual(subscription);
    const found = await client.findVpnSubscriptionsByReference(subscription.external_subscription_id ?? '');
    expect(valueOf(found).items).toEqual([subscription]);
    expect(valueOf(await client.cancelVpnSubscription(subscription.id)).kind).toBe('accepted');
    expect(valueOf(await client.cancelVpnSubscription(subscription.id)).kind).toBe('already_cancelled');

    expect(valueOf(await client.getWallet()).currency).toBe('USD');
    const movements = valueOf(await client.listWalletTransactions({ reference })).items;
    expect(movements.map(({ type, reason }) => [type, reason])).toEqual([
      ['credit', 'refund'],
      ['debit', 'order'],
    ]);
    const update = await client.getLatestUpdate({ currentVersion: '1.0', channel: 'stable' });
    expect(valueOf(update).update_available).toBe(true);
    expect(valueOf(await client.getOpenApi()).openapi).toBe('3.1.0');
    const secrets = [valueOf(await client.createWebhookSecret()), valueOf(await client.rotateWebhookSecret())];
    expect(new Set(secrets.map(({ secret }) => secret)).size).toBe(2);
    const simulated = await client.simulateEsim((await buyEsim(client)).esimId, 'active');
    expect(simulated.ok).toBe(mode === 'sandbox');

    // Every endpoint was called and gave the expected answer.
    const page = await run.admin.get('/requests?limit=10000');
    const requests = page.at('data') as { endpoint: string | null; environment: string; status: number }[];
    const called = new Set(requests.filter(({ status }) => status < 300).map(({ endpoint }) => endpoint));
    const missing = Object.keys(ENDPOINTS).filter((name) => !called.has(name));
    expect(missing).toEqual(mode === 'sandbox' ? [] : ['simulateEsim']);
    expect(new Set(requests.map(({ environment }) => environment))).toEqual(new Set([mode]));
  });
});

describe('our client', () => {
  it('gets the reviews of cancellations, or the refusal', async () => {
    await using run = await start('sandbox');
    const { client, admin } = run;
    const cancelIn = async (state?: 'installed' | 'active' | 'consumed') => {
      const { esimId } = await buyEsim(client);
      if (state !== undefined) valueOf(await client.simulateEsim(esimId, state));
      return client.cancelEsim({ idempotencyKey: randomUUID(), esimId });
    };
    const reviews = [];
    for (const state of [undefined, 'installed', 'active', 'consumed'] as const) {
      reviews.push(valueOf(await cancelIn(state)).refund?.review);
    }
    expect(reviews).toEqual(['accepted', 'manual_review', 'refused', 'refused']);
    await admin.post('/dialect', { name: 'refusals_as_errors' });
    expect(await cancelIn('active')).toMatchObject({ ok: false, status: 422, code: 'cancellation_refused' });
  });

  it('gets the refusal for a busy eSIM, and Retry-After after too many calls', async () => {
    await using run = await start('sandbox');
    const { client, admin } = run;
    const { esimId } = await buyEsim(client);
    await admin.post('/behaviour', { operation: 'topup', outcome: 'stay_processing' });
    await topUp(client, esimId);
    const busy = await client.cancelEsim({ idempotencyKey: randomUUID(), esimId });
    expect(busy).toMatchObject({ ok: false, status: 409, failure: 'key_or_reference_used', code: 'esim_busy' });
    await admin.post('/rate-limit', { requests: 1, window_ms: 3_600_000 });
    await client.getWallet();
    const limited = await client.getWallet();
    expect(limited).toMatchObject({ ok: false, status: 429, failure: 'rate_limited' });
    expect(limited).toHaveProperty('retryAfterMs', expect.any(Number));
  });
});
