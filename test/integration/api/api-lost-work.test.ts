/**
 * PostgreSQL may lose its last commits. A caller who repeats the request gets the same work, so its purchase has the
 * same idempotency key.
 */
import { randomUUID } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { apiOfFile } from '#test/integration/api/support.ts';
import { postOnce } from '#test/support/api/keys.ts';
import { orderInput, vpnInput } from '#test/support/api/order-calls.ts';
import { acceptTestCancellation } from '#test/support/work/order-rows.ts';

const { api, caller } = await apiOfFile();

const post = (path: string, body: unknown, key?: string) => postOnce(caller, path, body, key);
/** Deletes everything that was committed with the work. */
const lose = async (...tables: readonly string[]) => {
  for (const table of [...tables, 'outbox', 'timeline', 'announcements', 'idempotency_keys'])
    await api.database.run((db) => db.execute(sql.raw(`delete from ${table}`)));
};

describe('work with a lost row', () => {
  it.each<[string, string, string, () => object]>([
    ['an order', 'orders', '/v1/orders', orderInput],
    ['a VPN subscription', 'vpn_subscriptions', '/v1/vpn/subscriptions', vpnInput],
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
    const topUp = async (body: object, key?: string) => (await post('/v1/topups', body, key)).at('id');
    const ids = async () => [await topUp(unnamed, key), await topUp(named)];
    const first = await ids();
    await lose('topups');
    expect(await ids()).toEqual(first);
    expect(first).not.toContain(await topUp(unnamed));
    const byAnother = await postOnce(await api.caller(), '/v1/topups', unnamed, key);
    expect(byAnother.at('id')).not.toBe(first[0]);
  });
});
