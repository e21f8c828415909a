/** OWASP API1:2023 (broken object level authorization): creations of an own-work key. */
import { afterAll, describe, expect, it } from 'vitest';
import { newId } from '#db/connection/ids.ts';
import { postOnce } from '#test/support/api/keys.ts';
import { vpnInput } from '#test/support/api/order-calls.ts';
import { comparable, startWithTwoKeys } from '#test/support/api/two-keys.ts';
import { makeOwnWork } from '#test/support/work/own-work.ts';

const { api, limited, other, others } = await startWithTwoKeys();
afterAll(() => api[Symbol.asyncDispose]());

describe('a creation', () => {
  it.each([
    [400, 'of a top-up', (esim: string) => ({ path: '/v1/topups', body: { esim_id: esim, package_id: 101 } })],
    [404, 'of a cancellation', (esim: string) => ({ path: `/v1/esims/${esim}/cancel`, body: {} })],
  ] as const)('answers %i %s for the eSIM of another key as for an unknown eSIM', async (status, _name, requestOf) => {
    const send = (esim: string) => postOnce(limited, requestOf(esim).path, requestOf(esim).body);
    const missing = await send(newId('esim'));
    expect(missing.status).toBe(status);
    expect(comparable(await send(others.ids.esim))).toEqual(comparable(missing));
  });

  it('with a reference of another key is refused without details of its work', async () => {
    for (const [path, body, id] of [
      ['/v1/orders', { package_id: 101, external_order_id: others.externalOrderId }, others.ids.order],
      [
        '/v1/vpn/subscriptions',
        vpnInput({ external_subscription_id: others.externalSubscriptionId }),
        others.ids.vpn_subscription,
      ],
    ] as const) {
      const conflict = await postOnce(limited, path, body);
      expect([conflict.status, conflict.at('existing')]).toEqual([409, undefined]);
      expect(conflict.text).not.toContain(id);
      expect((await postOnce(other, path, body)).at('existing', 'id')).toBe(id);
    }
    const mine = await makeOwnWork(api, limited);
    const topup = await postOnce(limited, '/v1/topups', {
      esim_id: mine.ids.esim,
      package_id: 101,
      external_topup_id: others.externalTopupId,
    });
    expect([topup.status, topup.at('existing')]).toEqual([409, undefined]);
    expect((await limited.get('/v1/orders')).at('data', 0, 'id')).toBe(mine.ids.order);
    expect((await (await api.caller(['orders:read'])).get('/v1/orders')).at('data')).toHaveLength(2);
  });
});
