import { describe, expect, it } from 'vitest';
import type { Capability } from '#domain/service/capability-profile.ts';
import { closedTestClients, jsonAnswer as json, ORDER, RECENT, refusal } from '#test/support/upstream-client.ts';
import type { ServiceClient } from '#upstream/client.ts';
import { ENDPOINTS, type EndpointContract } from '#upstream/contract.ts';

const clientOf = closedTestClients();

describe('reads', () => {
  it('reject an answer about another resource', async () => {
    const { client } = await clientOf(() => json(ORDER));
    expect(await client.getOrder('so_1')).toMatchObject({ ok: true });
    expect(await client.getOrder('so_2')).toMatchObject({ failure: 'contract_drift' });
  });

  it.each([
    ['a/b?c=d#e', '/sandbox/orders/a%2Fb%3Fc%3Dd%23e'],
    ['..', '/sandbox/orders/%2E%2E'],
    ['.', '/sandbox/orders/%2E'],
    ['$&', '/sandbox/orders/%24%26'],
    ['half \ud800', '/sandbox/orders/half%20%EF%BF%BD'],
  ])('keep the id %j one segment of the path', async (id, target) => {
    const { client, targets } = await clientOf(() => refusal(404, 'not_found'));
    expect(await client.getOrder(id)).toMatchObject({ failure: 'invalid_request', status: 404 });
    expect(targets()[1]).toBe(target);
  });
});

describe('a capability that is switched off', () => {
  const CALLS: Readonly<
    Record<Exclude<Capability, 'key_replay'>, readonly ((client: ServiceClient) => Promise<unknown>)[]>
  > = {
    order_read: [(client) => client.getOrder('so_1')],
    order_list: [(client) => client.findOrdersByReference('shop-1'), (client) => client.listRecentOrders(RECENT)],
    wallet_transactions: [(client) => client.listWalletTransactions({ since: 0 })],
    public_packages: [(client) => client.listPublicPackages()],
    esim_usage: [(client) => client.getEsimUsage('e_1')],
    topup_read: [(client) => client.getTopup('t_1')],
    topup_list: [(client) => client.findTopupsOfEsim('e_1'), (client) => client.listRecentTopups(RECENT)],
    refund_read: [(client) => client.getRefund('r_1')],
    refund_list: [(client) => client.findRefundsOfEsim('e_1')],
    vpn_subscription_read: [(client) => client.getVpnSubscription('v_1')],
    vpn_subscription_list: [
      (client) => client.findVpnSubscriptionsByReference('sub-1'),
      (client) => client.listRecentVpnSubscriptions(RECENT),
    ],
    openapi_download: [(client) => client.getOpenApi()],
    sandbox_simulation: [(client) => client.simulateEsim('e_1', 'active')],
    webhook_secret: [(client) => client.createWebhookSecret(), (client) => client.rotateWebhookSecret()],
  };
  const cases = Object.entries(CALLS) as [Capability, (typeof CALLS)[keyof typeof CALLS]][];

  it.each(cases)('gives a separate result without a request: %s', async (capability, calls) => {
    const { client, server } = await clientOf(() => json(ORDER), { capabilities: { [capability]: false } });
    for (const call of calls) expect(await call(client)).toEqual({ ok: false, kind: 'unsupported', capability });
    expect(server.connections()).toBe(0);
  });

  it('covers each assumed call, except those required for every delivery', () => {
    const assumed = (Object.values(ENDPOINTS) as EndpointContract[]).filter(({ mark }) => mark !== 'shape assumed');
    const without = assumed.filter(({ capability }) => capability === undefined).map(({ path }) => path);
    expect(without).toEqual(['/packages', '/esims/{id}', '/wallet']);
  });
});
