import { describe, expect, it } from 'vitest';
import { VPN_PLANS } from '#simulator/catalogue.ts';
import { connect, DAY_MS, startReceiver, startTestSimulator, type SimulatorClient } from '#test/simulator/support.ts';
import { pageOf, vpnPlan, vpnSubscription } from '#upstream/contract.ts';

const read = async (simulator: SimulatorClient, id: string) =>
  (await simulator.sandbox.get(`/vpn/subscriptions/${id}`)).read(vpnSubscription);
const cancel = async (simulator: SimulatorClient, id: string) =>
  simulator.sandbox.post(`/vpn/subscriptions/${id}/cancel`);
const reaches = async (simulator: SimulatorClient, id: string, status: string): Promise<void> =>
  expect.poll(async () => (await read(simulator, id)).status).toBe(status);

describe('VPN plans', () => {
  it('are listed with price_for_reseller', async () => {
    await using simulator = await startTestSimulator();
    const { data } = (await simulator.sandbox.get('/vpn/plans')).read(pageOf(vpnPlan));
    expect(data.map(({ id }) => id)).toEqual(VPN_PLANS.map(({ id }) => id));
    expect(data[1]).toMatchObject({ id: 302, price_for_reseller: '7.425', duration_days: 90, available: true });
    await simulator.admin.post('/vpn-plans/301', { price_for_reseller: '3.10', available: false });
    const changed = { price_for_reseller: '3.10', available: false };
    expect((await simulator.sandbox.get('/vpn/plans')).at('data', 0)).toMatchObject(changed);
    const refused = await simulator.orderVpn();
    expect([refused.status, refused.at('error', 'code')]).toEqual([422, 'plan_unavailable']);
    expect((await simulator.admin.post('/vpn-plans/1', { available: true })).status).toBe(404);
  });
});

describe('a VPN order', () => {
  it('debits once and becomes an active subscription with access data; its event has none', async () => {
    await using receiver = await startReceiver();
    await using simulator = await startTestSimulator({ webhook: { url: receiver.url, secret: 'whsec_test' } });
    const ordered = (await simulator.orderVpn({ external_subscription_id: 'ref' })).read(vpnSubscription);
    expect(ordered).toMatchObject({ status: 'active', external_subscription_id: 'ref', price_for_reseller: '2.90' });
    expect(ordered.access?.username).toMatch(/^vpn-/);
    expect(Date.parse(ordered.expires_at ?? '') - Date.parse(ordered.started_at ?? '')).toBe(30 * DAY_MS);
    expect(await read(simulator, ordered.id)).toEqual(ordered);
    const about = { vpn_subscription_id: ordered.id, external_subscription_id: 'ref' };
    const debit = { type: 'debit', amount: '2.90', reason: 'vpn', ...about };
    expect((await simulator.ledger()).slice(1)).toMatchObject([debit]);
    expect((await simulator.sandbox.get('/wallet/transactions')).at('data', 0)).toMatchObject(debit);
    const [active] = await receiver.count(1);
    expect(active?.event).toBe('vpn.subscription.active');
    expect(active?.body.toString()).not.toContain(ordered.access?.password);
    expect((await simulator.admin.get('/vpn-subscriptions')).text).not.toContain(ordered.access?.password);
  });

  it('becomes active, or fails and is credited', async () => {
    await using receiver = await startReceiver();
    await using simulator = await startTestSimulator({ webhook: { url: receiver.url, secret: 'whsec_test' } });
    const later = (await simulator.orderVpn({ vpn_plan_id: 391 })).read(vpnSubscription);
    expect(later).toMatchObject({ status: 'processing', access: null, started_at: null });
    await reaches(simulator, later.id, 'active');
    const failing = (await simulator.orderVpn({ vpn_plan_id: 392 })).read(vpnSubscription);
    await reaches(simulator, failing.id, 'failed');
    expect((await read(simulator, failing.id)).failure?.code).toBe('provisioning_failed');
    const credit = { type: 'credit', reason: 'refund', vpn_subscription_id: failing.id };
    expect((await simulator.ledger()).at(-1)).toMatchObject(credit);
    const events = (await receiver.count(2)).map(({ event }) => event);
    expect(events).toEqual(['vpn.subscription.active', 'vpn.subscription.failed']);
  });

  it('needs a new external_subscription_id', async () => {
    await using simulator = await startTestSimulator();
    await simulator.order({ external_order_id: 'same' });
    expect((await simulator.orderVpn({ external_subscription_id: 'same' })).status).toBe(201);
    const again = await simulator.orderVpn({ external_subscription_id: 'same' });
    expect([again.status, again.at('error', 'code')]).toEqual([409, 'reference_exists']);
    await simulator.admin.post('/dialect', { name: 'reusable_references' });
    expect((await simulator.orderVpn({ external_subscription_id: 'same' })).status).toBe(201);
  });
});

describe('a VPN subscription', () => {
  it('expires at its end by its own clock', async () => {
    await using receiver = await startReceiver();
    await using simulator = await startTestSimulator({ webhook: { url: receiver.url, secret: 'whsec_test' } });
    const id = (await simulator.orderVpn()).textAt('id');
    await simulator.advance(30 * DAY_MS - 60_000);
    expect((await read(simulator, id)).status).toBe('active');
    await simulator.advance(60_000);
    // The token has expired after its thirty days as well.
    await expect.poll(async () => (await simulator.admin.get(`/vpn-subscriptions/${id}`)).at('status')).toBe('expired');
    expect((await receiver.count(2))[1]?.event).toBe('vpn.subscription.expired');
    const refused = await cancel(await connect(simulator.simulator.url), id);
    expect([refused.status, refused.at('error', 'code')]).toEqual([422, 'cancellation_refused']);
    expect(await simulator.ledger()).toHaveLength(2);
  });

  it('is cancelled without a key and without a refund; the second call is refused', async () => {
    await using receiver = await startReceiver();
    await using simulator = await startTestSimulator({ webhook: { url: receiver.url, secret: 'whsec_test' } });
    const id = (await simulator.orderVpn()).textAt('id');
    const first = (await cancel(simulator, id)).read(vpnSubscription);
    expect([first.status, first.cancelled_at !== null]).toEqual(['cancelled', true]);
    const second = await cancel(simulator, id);
    expect([second.status, second.at('error', 'code')]).toEqual([409, 'already_cancelled']);
    await simulator.advance(31 * DAY_MS);
    await simulator.admin.post('/webhooks/ping');
    const events = (await receiver.count(3)).map(({ event }) => event);
    expect(events).toEqual(['vpn.subscription.active', 'vpn.subscription.cancelled', 'ping']);
    expect(await simulator.ledger()).toHaveLength(2);
  });
});
