/** OWASP API1:2023 (broken object level authorization): creations and held work of an own-work key. */
import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { newId } from '#db/connection/ids.ts';
import { recordStep } from '#fulfilment/work/record-step.ts';
import { comparable, startWithTwoKeys } from '#test/support/api/two-keys.ts';
import { TEST_NOW } from '#test/support/network/api.ts';
import type { HttpClient } from '#test/support/network/http.ts';
import { makeOwnWork } from '#test/support/work/own-work.ts';

const { api, limited, other, others } = await startWithTwoKeys();
afterAll(() => api[Symbol.asyncDispose]());

describe('a creation', () => {
  const post = (client: HttpClient, path: string, body: object) =>
    client.post(path, body, { headers: { 'Idempotency-Key': randomUUID() } });

  it.each([
    [400, 'of a top-up', (esim: string) => ({ path: '/v1/topups', body: { esim_id: esim, package_id: 101 } })],
    [404, 'of a cancellation', (esim: string) => ({ path: `/v1/esims/${esim}/cancel`, body: {} })],
  ] as const)('answers %i %s for the eSIM of another key as for an unknown eSIM', async (status, _name, requestOf) => {
    const send = (esim: string) => post(limited, requestOf(esim).path, requestOf(esim).body);
    const missing = await send(newId('esim'));
    expect(missing.status).toBe(status);
    expect(comparable(await send(others.ids.esim))).toEqual(comparable(missing));
  });

  it('with a reference of another key is refused without details of its work', async () => {
    const vpn = { vpn_plan_id: 7, customer_reference: 'c', customer_price: { amount: '5.00', currency: 'EUR' } };
    for (const [path, body, id] of [
      ['/v1/orders', { package_id: 101, external_order_id: others.externalOrderId }, others.ids.order],
      [
        '/v1/vpn/subscriptions',
        { ...vpn, external_subscription_id: others.externalSubscriptionId },
        others.ids.vpn_subscription,
      ],
    ] as const) {
      const conflict = await post(limited, path, body);
      expect([conflict.status, conflict.at('existing')]).toEqual([409, undefined]);
      expect(conflict.text).not.toContain(id);
      expect((await post(other, path, body)).at('existing', 'id')).toBe(id);
    }
    const mine = await makeOwnWork(api, limited);
    const topup = await post(limited, '/v1/topups', {
      esim_id: mine.ids.esim,
      package_id: 101,
      external_topup_id: others.externalTopupId,
    });
    expect([topup.status, topup.at('existing')]).toEqual([409, undefined]);
    expect((await limited.get('/v1/orders')).at('data', 0, 'id')).toBe(mine.ids.order);
    expect((await (await api.caller(['orders:read'])).get('/v1/orders')).at('data')).toHaveLength(2);
  });
});

describe('held work', () => {
  it.each(['insufficient_balance', 'purchases_paused', 'spend_limit_reached'] as const)(
    'for %s shows an own-work key the reason without data of the account',
    async (failure) => {
      const particulars = `of the 98.76 USD in the wallet, 54.32 are reserved; SECRET-WHY ${failure}`;
      const reference = randomUUID();
      const body = { package_id: 101, external_order_id: reference };
      const made = await limited.post('/v1/orders', body, { headers: { 'Idempotency-Key': randomUUID() } });
      const id = made.textAt('id');
      const message = `Held at the purchase gate: ${particulars}`;
      const step = { event: 'order.held', message, attemptNumber: 1 };
      await api.database.transaction((tx) =>
        recordStep(
          tx,
          { work: { kind: 'order', id }, status: 'held', ...step, failure: { class: failure, detail: particulars } },
          new Date(TEST_NOW),
        ),
      );
      const everything = await api.caller();
      for (const path of [
        `/v1/orders/${id}`,
        `/v1/orders?external_order_id=${reference}`,
        `/v1/orders/${id}/timeline`,
      ]) {
        const shown = await limited.get(path);
        expect(shown.text).toContain(failure);
        expect(shown.text).not.toMatch(/98\.76|54\.32|SECRET-WHY/);
        expect((await everything.get(path)).text).toContain(particulars);
      }
    },
  );
});
