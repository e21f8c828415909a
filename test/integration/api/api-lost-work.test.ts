/**
 * PostgreSQL may lose its last commits. A caller who repeats the request gets the same work, so its purchase has the
 * same idempotency key.
 */
import { randomUUID } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { postOnce } from '#test/support/api/keys.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startTestApi } from '#test/support/network/api.ts';
import { acceptTestCancellation } from '#test/support/work/order-rows.ts';

const api = disposedAtEnd(await startTestApi());
const caller = await api.caller();

const post = (path: string, body: unknown, key?: string) => postOnce(caller, path, body, key);
/** Deletes everything that was committed with the work. */
const lose = async (...tables: readonly string[]) => {
  for (const table of [...tables, 'outbox', 'timeline', 'announcements', 'idempotency_keys']) {
    await api.database.run((db) => db.execute(sql.raw(`delete from ${table}`)));
  }
};

describe('work with a lost row', () => {
  it.each([
    ['an order', 'orders', '/v1/orders', () => ({ external_order_id: `shop-${randomUUID()}`, package_id: 101 })],
    [
      'a VPN subscription',
      'vpn_subscriptions',
      '/v1/vpn/subscriptions',
      () => ({
        external_subscription_id: `vpn-${randomUUID()}`,
        vpn_plan_id: 7,
        customer_reference: 'C-1',
        customer_price: { amount: '29.99', currency: 'EUR' },
      }),
    ],
  ])(
    'of %s is created again with its id, for any Idempotency-Key with its reference',
    async (_what, table, path, body) => {
      const asked = body();
      const first = await post(path, asked);
      expect(first.status).toBe(202);
      await lose(table);
      const second = await post(path, asked);
      expect(second.status).toBe(202);
      expect(second.at('id')).toBe(first.at('id'));
      expect((await post(path, body())).at('id')).not.toBe(first.at('id'));
    },
  );

  it('of a top-up is created again with its id, by its reference or its Idempotency-Key', async () => {
    const { esimId } = await acceptTestCancellation(api.database);
    const unnamed = { esim_id: esimId, package_id: 101 };
    const named = { ...unnamed, external_topup_id: 'topup-1' };
    const key = randomUUID();
    const ids = async () => [
      (await post('/v1/topups', unnamed, key)).at('id'),
      (await post('/v1/topups', named)).at('id'),
    ];
    const first = await ids();
    await lose('topups');
    expect(await ids()).toEqual(first);
    expect(first).not.toContain((await post('/v1/topups', unnamed)).at('id'));
    const byAnother = await postOnce(await api.caller(), '/v1/topups', unnamed, key);
    expect(byAnother.at('id')).not.toBe(first[0]);
  });
});
