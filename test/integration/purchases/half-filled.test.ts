import { eq } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { vpnSubscriptions } from '#db/schema.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { NORMAL_WAITS_POLICY, RARE_UPKEEP } from '#test/support/servers/test-policies.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { checkedDesk, type OrderDesk, PACKAGE } from '#test/support/work/order-desk.ts';
import { WrongService } from '#test/support/work/wrong-service.ts';

const PLAN = 301;
const ALWAYS = { count: null } as const;
const READS_OF_ORDERS = ['getOrder', 'listOrders'] as const;
const READS_OF_SUBSCRIPTIONS = ['getVpnSubscription', 'listVpnSubscriptions'] as const;

const environment = {
  ...NORMAL_WAITS_POLICY,
  ...RARE_UPKEEP,
  'purchase.resend_delay': '100ms',
  'purchase.look_up_again': '200ms',
  'purchase.delivery_deadline': '15s',
  'purchase.denied_after': '1s',
  'reconciler.silent_after': '60s',
};
const stack = disposedAtEnd(await startStack({ environment }));
const desk = checkedDesk(stack);
const service = new WrongService(stack, desk);

type Endpoint = Parameters<OrderDesk['simulator']['onRequest']>[0];

/** Sets fields in the answers of some endpoints. */
async function answers(endpoints: readonly Endpoint[], set: Record<string, never>, rule: object = ALWAYS) {
  for (const endpoint of endpoints) await desk.simulator.onRequest(endpoint, { kind: 'fields', set }, rule);
}
const fields = (set: Record<string, unknown>) => set as Record<string, never>;
const lost = () => desk.simulator.onWebhook(undefined, { kind: 'lost' }, ALWAYS);
const isWaiting = (id: string, kind: string) =>
  waitFor('it waits for its delivery', async () => (await desk.events(id)).includes(`${kind}.not_complete_yet`));

describe('an eSIM that the service fills after it has completed the order', () => {
  it('is read until it is filled, without a case', async () => {
    await answers(['getEsim'], fields({ iccid: 'PENDING', activation_code: '' }), { count: 3 });
    const id = (await desk.complete(PACKAGE.completedAtOnce)).textAt('id');
    expect(await desk.cases(id)).toEqual([]);
    expect(await desk.events(id)).toContain('order.not_complete_yet');
  });

  it('is a case after the deadline, is still read, and is delivered by itself when it is filled', async () => {
    await answers(['getEsim'], fields({ activation_code: '' }));
    const id = await desk.place(PACKAGE.completedAtOnce);
    const parked = await desk.reaches(id, 'needs_attention');
    expect(parked.at('operations', 'attention', 'reason')).toBe('delivery_unavailable');
    await desk.simulator.calm();
    await desk.reaches(id, 'completed');
    expect(await desk.cases(id)).toEqual([{ reason: 'delivery_unavailable', open: false }]);
    expect(await desk.movements(id)).toEqual(['debit 2.40']);
  });

  it.each([
    ['not an ICCID', [{ reason: 'iccid_unreadable', open: true }]],
    [null, []],
  ])('is delivered without the ICCID (%j), which a later read stores', async (iccid, cases) => {
    await answers(['getEsim'], fields({ iccid }));
    const id = await desk.place(PACKAGE.completedAtOnce);
    const esimId = (await desk.reaches(id, 'completed')).textAt('esim_id');
    const shown = async () => (await stack.api.get(`/v1/esims/${esimId}`)).at('iccid');
    expect([await shown(), await desk.cases(id)]).toEqual([null, cases]);
    expect((await stack.api.get(`/v1/esims/${esimId}/activation`)).body).toMatchObject({ iccid: null });
    await desk.simulator.calm();
    await stack.api.get(`/v1/esims/${esimId}/cancellation-preflight`);
    expect(await shown()).toMatch(/^89\d+$/);
  });

  it('is delivered when only an event names it, although the order is known to be completed', async () => {
    await answers(['createOrder', ...READS_OF_ORDERS], fields({ esim_id: null }));
    await lost();
    const id = await desk.place(PACKAGE.completedAtOnce);
    await isWaiting(id, 'order');
    const reference = (await stack.api.get(`/v1/orders/${id}`)).textAt('external_order_id');
    const [sold] = await desk.simulator.orders(reference);
    await service.reports('order.completed', { id: sold?.id, esim_id: sold?.esim_id });
    const { serviceEsimId } = await service.esimOf(await desk.reaches(id, 'completed'));
    expect(serviceEsimId).toBe(sold?.esim_id);
  });
});

describe('the access data of a VPN subscription', () => {
  const unfilled = () => answers(['createVpnOrder', ...READS_OF_SUBSCRIPTIONS], fields({ access: null }));
  const accessOf = (id: string) => stack.api.get(`/v1/vpn/subscriptions/${id}/access`);

  it('that only an event gives, as a licence key, are stored before it becomes active', async () => {
    await unfilled();
    await lost();
    const id = await desk.subscribe(PLAN);
    await isWaiting(id, 'vpn_subscription');
    const reference = (await stack.api.get(`/v1/vpn/subscriptions/${id}`)).textAt('external_subscription_id');
    const data = { external_subscription_id: reference, access: { username: null, license_key: 'K-1' } };
    await service.reports('vpn.subscription.active', data);
    await desk.subscriptionReaches(id, 'active');
    expect((await accessOf(id)).body).toMatchObject({ licence_key: 'K-1', username: null, password: null });
  });

  it('that an event gives after it is active are stored', async () => {
    const id = await desk.subscribe(PLAN);
    const active = await desk.subscriptionReaches(id, 'active');
    await stack.database.run((db) =>
      db.update(vpnSubscriptions).set({ encryptedAccess: null }).where(eq(vpnSubscriptions.id, id)),
    );
    const data = { id: active.textAt('service_subscription_id'), access: { username: 'late', password: 'p' } };
    await service.reports('vpn.subscription.active', data);
    await waitFor('they are stored', async () => (await accessOf(id)).status === 200);
    expect((await accessOf(id)).body).toMatchObject({ username: 'late' });
  });
});

describe('an accepted order that the service denies by its id and in its list', () => {
  it('is a case, never fails, and goes on when the service shows it again', async () => {
    await lost();
    const denied = { kind: 'answer', status: 404, body: '{"error":{"code":"not_found","message":""}}' } as const;
    await desk.simulator.onRequest('getOrder', denied, ALWAYS);
    await service.lists('listOrders', []);
    await desk.simulator.nextPurchases({ outcome: 'stay_processing' });
    const id = await desk.place(PACKAGE.completedAtOnce);
    expect((await desk.reaches(id, 'needs_attention')).at('operations', 'attention', 'reason')).toBe('outcome_unknown');
    await desk.simulator.calm();
    const order = await desk.reaches(id, 'processing');
    await desk.simulator.completeOrder(order.textAt('service_order_id'));
    await desk.reaches(id, 'completed');
    expect(await desk.movements(id)).toEqual(['debit 2.40']);
    expect(await desk.cases(id)).toEqual([{ reason: 'outcome_unknown', open: false }]);
  });
});
