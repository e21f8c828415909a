import { describe, expect, it } from 'vitest';
import { isDefinite } from '#domain/work/failure.ts';
import { headerOf, jsonAnswer as json, refusal, startTestClient } from '#test/support/upstream-client.ts';

const SUBSCRIPTION = { id: 'v_1', external_subscription_id: 'sub-1', status: 'active' };
const ACCEPTED = { ok: true, value: { kind: 'accepted', subscription: { status: 'cancelled' } } };

describe('VPN plans', () => {
  it.each(['id', 'price_for_reseller', 'currency'])('without %s are contract drift', async (field) => {
    const plan = { id: 3, name: 'Monthly', price_for_reseller: '2.50', currency: 'EUR', [field]: undefined };
    await using opened = await startTestClient(() => json({ data: [plan] }));
    expect(await opened.client.listVpnPlans()).toMatchObject({ failure: 'contract_drift' });
  });
});

describe('the cancellation of a VPN subscription', () => {
  it('has no Idempotency-Key and no body', async () => {
    await using opened = await startTestClient(() => json({ ...SUBSCRIPTION, status: 'cancelled' }));
    expect(await opened.client.cancelVpnSubscription('v_1')).toMatchObject(ACCEPTED);
    expect(opened.targets()[1]).toBe('/sandbox/vpn/subscriptions/v_1/cancel');
    expect(headerOf(opened.server.requests[1], 'idempotency-key')).toBeUndefined();
    expect(opened.server.requests[1]?.body).toHaveLength(0);
  });

  it.each([409, 422])('succeeds after a lost answer when the next one is "already cancelled" (%i)', async (status) => {
    let calls = 0;
    await using opened = await startTestClient(({ raw }) => {
      calls += 1;
      if (calls > 1) return refusal(status, 'already_cancelled');
      raw.socket.resetAndDestroy();
      return undefined;
    });
    const lost = await opened.client.cancelVpnSubscription('v_1');
    expect(!lost.ok && isDefinite(lost.failure)).toBe(false);
    expect(lost).toMatchObject({ failure: 'connection_lost' });
    const value = { kind: 'already_cancelled' };
    expect(await opened.client.cancelVpnSubscription('v_1')).toEqual({ ok: true, status, value });
  });

  it.each([
    ['cancelled', ACCEPTED],
    ['expired', { ok: true, value: { kind: 'accepted', subscription: { status: 'expired' } } }],
    ['active', { ok: false, failure: 'connection_lost' }],
  ])('after a lost answer has the result of a read of the subscription: %s', async (status, result) => {
    await using opened = await startTestClient(({ target, raw }) => {
      if (!target.endsWith('/cancel')) return json({ ...SUBSCRIPTION, status });
      raw.socket.resetAndDestroy();
      return undefined;
    });
    expect(await opened.client.cancelVpnSubscription('v_1')).toMatchObject(result);
    const address = '/sandbox/vpn/subscriptions/v_1';
    expect(opened.targets().slice(1)).toEqual([`${address}/cancel`, address]);
  });

  it.each([
    [409, 'reference_exists', 'key_or_reference_used', 3],
    [403, 'already_cancelled', 'key_or_reference_used', 3],
    [500, 'already_cancelled', 'server_error', 3],
    [422, 'cancellation_refused', 'cancellation_refused', 3],
  ])(
    'is no success with the answer %i and the code %s, unless a read shows that it has ended',
    async (status, code, ...end) => {
      await using opened = await startTestClient(() => refusal(status, code));
      const result = await opened.client.cancelVpnSubscription('v_1');
      expect([result.ok ? 'ok' : result.failure, opened.targets().length]).toEqual(end);
    },
  );

  it('succeeds when the service refuses it because the subscription has expired', async () => {
    await using opened = await startTestClient(({ target }) =>
      target.endsWith('/cancel') ? refusal(422, 'cancellation_refused') : json({ ...SUBSCRIPTION, status: 'expired' }),
    );
    const value = { kind: 'accepted', subscription: { status: 'expired' } };
    expect(await opened.client.cancelVpnSubscription('v_1')).toMatchObject({ ok: true, value });
  });
});
